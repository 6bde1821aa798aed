// The page: asks for both streams, folds what comes, shows it.

import { Answer, resumeOf } from "./answer.js";
import { byId } from "./dom.js";
import { Input } from "./graphs.js";
import { SideRenderer } from "./render.js";
import { Replay } from "./replay.js";
import { freshSides, hasRuns, readSession, writeSession } from "./session.js";
import { ask, hasHeader, useHeader, watch } from "./stream.js";
import { themeSwitch } from "./theme.js";
import { SIDES, apply, emptyView, waiting } from "./view.js";

const RETRY_MS = 1000;
const MAX_RETRY_MS = 5000;
const GONE = new Set([502, 503, 504]); // what a proxy says of a server that does not answer
const REFUSED = /^(AuthenticationError|PermissionDeniedError):/; // what a run's server says of its user
const NEAR_PX = 60; // whoever is so near to the end follows it

const input = new Input();
const renderers = new Map(
  [...document.querySelectorAll(".side")].map((section) => [section.dataset.side, new SideRenderer(section)]),
);
const replay = new Replay(() => redraw());
const answer = new Answer((value) => reply(value).catch(problem));

let session = readSession();
let view = emptyView();
let changed = new Set();
let isDrawn = true;
let aborts = null; // of the stream that is read
let isAway = false; // whether the server does not answer

// Answers on each side that waits, unless somebody has: then shows how it went on.
async function reply(value) {
  const waits = SIDES.filter((side) => waiting(view[side]).length);
  const answers = Object.fromEntries(waits.map((side) => [side, { resume: resumeOf(view[side], value) }]));
  aborts = new AbortController();
  going(waits);
  let isAnswered = false;
  try {
    isAnswered = await noteAnswered(waits);
  } catch (error) {
    for (const side of waits) view[side].status = "interrupted";
    settled();
    throw error;
  }
  begin(isAnswered ? undefined : (side) => answers[side] ?? null);
  if (isAnswered) problem(new Error("It has been answered already, elsewhere. This is how it went on."));
}

// Shows what begins on these sides: it takes a while until the server says so.
function going(sides) {
  for (const side of sides) view[side].status = "running";
  busy(true);
  draw();
}

function settled() {
  aborts = null;
  busy(false);
  draw();
}

// Whether a thread goes on that is shown to wait; notes the runs that it has had since.
async function noteAnswered(waits) {
  const asked = waits.map(async (side) => {
    const { thread_id } = session.sides[side];
    const { status } = await ask(`threads/${thread_id}`);
    if (status === "interrupted") return false;
    const runs = await ask(`threads/${thread_id}/runs?limit=100`); // the newest first
    for (const { run_id } of runs.reverse()) note({ side, thread_id, run_id });
    return true;
  });
  return (await Promise.all(asked)).includes(true);
}

// Begins a run on each side, `start` being what of; without one, joins those that are known.
async function begin(start = () => null) {
  aborts?.abort();
  aborts = new AbortController();
  const { signal } = aborts;
  problem(null);
  going(SIDES.filter(start));
  try {
    await followThrough(start, signal);
  } catch (error) {
    if (!signal.aborted) problem(error);
  }
  if (signal.aborted) return;
  settled();
  if (SIDES.some((side) => REFUSED.test(view[side].error ?? ""))) offerSignIn();
}

// Reads on after each cut, from the beginning of the runs: a server that has gone may come back.
async function followThrough(start, signal) {
  let retries = 0;
  const onAnswer = () => {
    if (!retries) return;
    retries = 0;
    clear(); // what was shown comes again
    away(false);
  };
  for (;;) {
    try {
      return await follow(start, signal, retries > 0, onAnswer);
    } catch (error) {
      const isCut = error.status === undefined || GONE.has(error.status);
      if (signal.aborted || !isCut || !hasRuns(session)) throw error;
    }
    away(true);
    start = () => null; // what was to begin has begun
    retries += 1;
    await new Promise((resolve) => setTimeout(resolve, Math.min(RETRY_MS * retries, MAX_RETRY_MS)));
    if (signal.aborted) return;
  }
}

// Reads one answer of the server. Unless it is read again, what repeats runs that are shown is
// passed over.
async function follow(start, signal, isAgain, onAnswer) {
  const shown = isAgain ? [] : replay.events;
  const known = new Set(shown.map((event) => event.run_id).filter(Boolean));
  const isNew = Object.fromEntries(SIDES.map((side) => [side, known.size === 0]));
  const sides = session.isOne
    ? [{ side: "both", ...session.sides.once, start: start("once") ?? start("stock") }]
    : SIDES.map((side) => ({ side, ...session.sides[side], start: start(side) }));
  for await (const events of watch({ graph: session.graph, sides }, signal)) {
    onAnswer();
    add(events.filter((event) => {
      if (event.op === "Began") {
        isNew[event.side] = !event.run_id || !known.has(event.run_id);
        note(event);
      }
      return isNew[event.side];
    }));
  }
}

// Notes a run in the address.
function note({ side, thread_id, run_id }) {
  const known = session.sides[side];
  if (thread_id) known.thread_id = thread_id;
  if (run_id && !known.run_ids.includes(run_id)) known.run_ids.push(run_id);
  writeSession(session);
}

function add(events) {
  replay.add(events);
  if (replay.isLive) for (const event of events) changed.add(apply(view, event));
  later();
}

function later() {
  if (!isDrawn) return;
  isDrawn = false;
  requestAnimationFrame(draw);
}

function draw() {
  isDrawn = true;
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR_PX;
  for (const [name, renderer] of renderers) renderer.show(view[name], changed);
  changed.clear();
  replay.show();
  const isNew = replay.events.length === 0 && !aborts;
  byId("empty").hidden = !isNew;
  for (const part of document.querySelectorAll(".sides, .tabs")) part.hidden = isNew;
  status();
  if (isAtEnd && aborts && replay.isLive) scrollTo(0, document.documentElement.scrollHeight);
  if (answer.show(view, aborts === null && replay.isLive)) {
    const at = document.activeElement; // whoever reads elsewhere is not called away
    if (at === document.body || byId("ask").contains(at)) byId("answer-text").focus();
  }
}

// Draws anew what had come where the cursor is.
function redraw() {
  view = emptyView();
  for (const event of replay.events.slice(0, replay.end)) apply(view, event);
  for (const [name, renderer] of renderers) {
    renderer.clear();
    renderer.show(view[name], null);
  }
  changed.clear();
  answer.show(view, aborts === null && replay.isLive);
}

function clear() {
  replay.clear();
  view = emptyView();
  changed = new Set();
  for (const renderer of renderers.values()) renderer.clear();
}

function away(isIt) {
  isAway = isIt;
  status();
}

function busy(isBusy) {
  isAway = false;
  byId("run").disabled = isBusy;
  byId("stop").hidden = !isBusy;
  byId("more").hidden = isBusy || !hasRuns(session) || SIDES.some((side) => view[side].status === "interrupted");
  status();
}

// Says in words what the colours show.
function status() {
  const { stock, once } = view;
  let said = "";
  if (aborts) said = isAway ? "The server does not answer. Trying again …" : "Running …";
  else if (SIDES.some((side) => view[side].status === "interrupted")) said = "The graph waits for your answer.";
  else if (replay.events.length) said = "Done.";
  if (said && !aborts) {
    const count = ({ counts }) =>
      `${counts.repeated ?? 0} repeated, ${counts.missing ?? 0} missing, ${counts.not_kept ?? 0} not kept`;
    said += ` LangGraph: ${count(stock)}. With once: ${count(once)}.`;
    if (said.startsWith("Done.") && SIDES.every((side) => isRight(view[side]))) said += " Nothing is wrong with either in this run.";
  }
  if (byId("status").textContent !== said) byId("status").textContent = said;
}

const isRight = ({ counts, status }) =>
  status === "finished" && !counts.repeated && !counts.missing && !counts.not_kept;

// Says before a run how often the graph will run.
function runs() {
  byId("runs-about").textContent = byId("one-run").checked
    ? "The graph runs once. Its stream is recorded, and both sides are shown from that recording; bytes are not counted."
    : "The graph runs twice, once for each side: its models answer twice, and its tools act twice.";
}

function problem(error) {
  byId("problem").hidden = error === null;
  byId("problem").textContent = error ? error.message : "";
  if (error && (error.status === 401 || error.status === 403)) offerSignIn();
}

// Only a server that asks who one is has a use for it.
function offerSignIn() {
  byId("account").hidden = false;
  byId("account").open = true;
}

function valueOrProblem() {
  try {
    return input.value();
  } catch (error) {
    problem(new Error(`The input is no JSON: ${error.message}`));
    return undefined;
  }
}

byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const value = valueOrProblem();
  if (value === undefined) return;
  clear();
  session = { graph: input.graph, sides: freshSides(), isOne: byId("one-run").checked };
  runs();
  begin(() => ({ input: value }));
});

byId("more").addEventListener("click", () => {
  const value = valueOrProblem();
  if (value !== undefined) begin(() => ({ input: value }));
});

byId("one-run").addEventListener("change", runs);

byId("stop").addEventListener("click", () => {
  for (const side of session.isOne ? ["once"] : SIDES) {
    const { thread_id, run_ids } = session.sides[side];
    const run_id = run_ids.at(-1);
    if (run_id && view[side].status === "running") {
      ask(`threads/${thread_id}/runs/${run_id}/cancel`, {}).catch(problem);
    }
  }
});

byId("input").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !byId("as-json").checked) {
    event.preventDefault();
    if (!byId("run").disabled) byId("ask").requestSubmit();
  }
});

byId("header-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useHeader(byId("header-name").value.trim(), byId("header-value").value);
  byId("header-value").value = "";
  byId("account").open = false;
  open();
});

for (const button of document.querySelectorAll("[data-show]")) {
  button.addEventListener("click", () => {
    document.querySelector(".sides").dataset.shown = button.dataset.show;
    for (const each of document.querySelectorAll("[data-show]")) {
      each.setAttribute("aria-pressed", String(each === button));
    }
  });
}

// Asks for the graphs, and goes on with the runs that the address names.
async function open() {
  problem(null);
  byId("account").querySelector("summary").textContent = hasHeader() ? "Signed in" : "Sign in";
  byId("account").hidden = !hasHeader();
  try {
    await input.load(session.graph);
  } catch (error) {
    problem(error);
    return;
  }
  if (hasRuns(session)) begin();
}

byId("one-run").checked = session.isOne;
runs();
themeSwitch(byId("theme"));
draw();
open();
