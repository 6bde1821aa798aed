// Which runs are shown, of two threads, or of one that is recorded for both sides: kept in the address, so that a reload goes on and a link can be shared.

import { SIDES } from "./view.js";

export function readSession() {
  const params = new URLSearchParams(location.hash.slice(1));
  const session = { graph: params.get("graph"), sides: {}, isOne: false };
  for (const side of SIDES) {
    const [thread, ...runs] = (params.get(side) ?? "").split(",").filter(isId);
    session.sides[side] = { thread_id: thread ?? null, run_ids: runs };
  }
  const { stock, once } = session.sides;
  session.isOne = once.thread_id !== null && stock.thread_id === once.thread_id;
  return session;
}

export function writeSession({ graph, sides }) {
  const params = new URLSearchParams();
  if (graph) params.set("graph", graph);
  for (const side of SIDES) {
    const { thread_id, run_ids } = sides[side];
    if (thread_id) params.set(side, [thread_id, ...run_ids].join(","));
  }
  history.replaceState(null, "", `#${params}`.replaceAll("%2C", ","));
}

export function freshSides() {
  return Object.fromEntries(SIDES.map((side) => [side, { thread_id: null, run_ids: [] }]));
}

export const hasRuns = ({ sides }) => SIDES.some((side) => sides[side].run_ids.length > 0);

const isId = (text) => /^[0-9a-f-]{32,36}$/i.test(text);
