// One side: its counts, its status, its items.

import { asJson, element } from "./dom.js";
import { laneName, textOf } from "./view.js";

const LANES = 6; // colours

const STATES = {
  running: "running", finished: "finished", interrupted: "waits for an answer", failed: "failed",
};

const COUNTS = [
  ["repeated", "repeated", "Texts that the reader was shown again, or that a failed attempt left behind"],
  ["missing", "missing", "Texts of the state that were never streamed in `messages`"],
  ["not_kept", "not kept", "Texts that were streamed and are in no state, or have other words there"],
  ["bytes", "of events", "Bytes of the events, before anything compresses them"],
];

const SMALL = [
  ["retracted", "retracted"], ["left_out", "repeated, left out"],
  ["repaired", "repaired"], ["wire_bytes", "on the wire"], ["parts", "events"],
];

const BYTES = new Set(["bytes", "wire_bytes"]);

// What the user reads for a mark; what is kept needs no word.
const wordFor = (mark) => (mark === "kept" ? null : mark.replace("_", " "));

export class SideRenderer {
  constructor(section) {
    this.name = section.dataset.side;
    this.list = section.querySelector(".items");
    this.counts = section.querySelector(".counts");
    this.status = section.querySelector("[data-status]");
    this.note = section.querySelector("h2 small");
    this.said = this.note.textContent;
    this.clear();
  }

  clear() {
    this.nodes = [];
    this.jumps = 0;
    this.countsShown = "";
    this.list.replaceChildren();
  }

  // Shows a side; `changed` are its items that are others than before, or null for all.
  show(side, changed) {
    this.note.textContent = noteFor(this.name, side) ?? this.said;
    this.status.textContent = stateOf(side);
    this.status.dataset.status = side.status ?? "";
    this.status.title = isWaiting(side) ? "langgraph dev runs one at a time; --n-jobs-per-worker 2 lets both run" : "";
    this.showCounts(side.counts);
    const hasResult = [...(changed ?? [])].some((item) => item?.value?.result !== undefined);
    side.items.forEach((item, at) => {
      const isNews = !changed || changed.has(item) || (hasResult && item.name === "tool");
      if (this.nodes[at] && !isNews) return;
      const shown = this.item(item, side, at);
      if (this.nodes[at]) replace(this.nodes[at], shown);
      else this.list.append(shown);
      this.nodes[at] = shown;
    });
  }

  showCounts(counts) {
    const key = JSON.stringify(counts);
    if (key === this.countsShown) return; // whoever is on a button stays there
    this.countsShown = key;
    const isRecorded = counts.parts > 0 && !counts.bytes; // of one run for both
    const told = COUNTS.filter(([name]) => !(isRecorded && BYTES.has(name)));
    const big = told.map(([name, label, why]) => {
      const value = counts[name] ?? 0;
      const isBad = !BYTES.has(name) && value > 0;
      const shown = BYTES.has(name) ? size(value) : String(value);
      return element("div", { class: "count", "data-count": name, "data-bad": isBad, title: why },
        element("dt", { text: label }),
        element("dd", {}, isBad ? this.jump(name, shown, label) : shown));
    });
    const small = SMALL.filter(([name]) => counts[name] > 0).map(([name, label]) =>
      element("div", { class: "small", "data-count": name },
        element("dt", { text: label }),
        element("dd", { text: BYTES.has(name) ? size(counts[name]) : counts[name].toLocaleString("en") })));
    this.counts.replaceChildren(...big, ...small);
  }

  // A button that shows the next item that is counted.
  jump(name, shown, label) {
    const next = () => {
      const found = [...this.list.querySelectorAll(`.item[data-mark="${name}"], .item:has(.piece.${name})`)];
      const node = found[this.jumps++ % found.length];
      node?.scrollIntoView({ block: "center" });
      node?.setAttribute("tabindex", "-1");
      node?.focus({ preventScroll: true });
    };
    return element("button", {
      type: "button", class: "jump", text: shown, onclick: next, "aria-label": `${shown} ${label}: show the next`,
    });
  }

  item(item, side, at) {
    const lane = side.lanes[item.lane];
    const before = side.items[at - 1];
    const speaks = !before || before.lane !== item.lane;
    const mark = markOf(item);
    const badge = wordFor(mark);
    const where = [laneName(lane), item.node].filter(Boolean).join(" › ");
    const head = element("div", { class: "item-head" },
      element("span", { class: "where", text: speaks || item.node ? where : laneName(lane) }),
      element("span", { class: "kind", text: kindOf(item) }),
      badge ? element("mark", { class: mark, text: badge }) : null,
      item.kind === "tool_call"
        ? element("span", { class: "outcome", "data-status": item.status ?? "open", text: item.status ?? "…" }) : null);
    return element("li", {
      hidden: mark === "kept" && isResult(item, side),
      class: `item ${item.kind}`, "data-mark": mark, "data-lane": item.lane % LANES,
      "data-depth": Math.min(lane.path.length, 3), "data-role": item.kind === "message" ? item.name : null,
    }, head, ...this.body(item));
  }

  body(item) {
    switch (item.kind) {
      case "message": return [this.words(item)];
      case "tool_call": return call(item);
      case "artifact": return [fold(title(item.value), item.value)];
      case "state": return [fold(stateLine(item.value), item.value)];
      case "interrupt": return [fold(question(item.value) ?? "A question", item.value)];
      case "custom": case "ui": return [fold(title(item.value), item.value)];
      default: return [element("p", { class: "text", text: asJson(item.value) })];
    }
  }

  words(item) {
    const text = element("p", { class: "text" });
    for (const piece of item.pieces) {
      const word = wordFor(piece.mark);
      const label = piece.mark === item.mark ? null : word;
      text.append(element("span", {
        class: `piece ${piece.mark} ${piece.kind}`, title: word,
      }, label ? element("span", { class: "unseen", text: `${label}: ` }) : null, piece.text));
    }
    return text;
  }
}

// What is to be said of a side that is not what its title says.
function noteFor(name, { counts }) {
  if (name === "once" && counts.texts > 0 && counts.annotated === 0) {
    return "filtered by the client; the graph is not wrapped";
  }
  // A graph that hides messages shows nobody what LangGraph alone would stream.
  return name === "stock" && counts.annotated > 0 ? "as once streams it; the graph hides messages" : null;
}

// What the reader has unfolded stays so.
function replace(node, shown) {
  const open = [...node.querySelectorAll("details")].map((each) => each.open);
  shown.querySelectorAll("details").forEach((each, at) => (each.open = open[at] ?? each.open));
  node.replaceWith(shown);
}

const isWaiting = ({ status, items }) => status === "running" && items.length === 0;

function stateOf(side) {
  if (!side.status) return "";
  if (isWaiting(side)) return "waits for its turn";
  return side.error ? `${STATES[side.status]}: ${side.error}` : STATES[side.status];
}

// The mark of an item: its own, or that of all its pieces.
function markOf(item) {
  const [first, ...rest] = item.pieces;
  const isOne = first && rest.every((piece) => piece.mark === first.mark);
  return item.mark === "kept" && isOne ? first.mark : item.mark;
}

// Whether a message is the result that its call shows already.
function isResult(item, side) {
  if (item.kind !== "message" || item.name !== "tool") return false;
  const text = textOf(item);
  return side.items.some(({ kind, value }) => kind === "tool_call" && value?.result === text);
}

function kindOf(item) {
  if (item.kind === "message") return item.name === "ai" ? "" : item.name;
  if (item.kind === "artifact") return `artifact ${item.name}`;
  return item.kind.replace("_", " ");
}

function call(item) {
  const args = textOf(item) || asJson(item.value?.args ?? {});
  const line = element("p", { class: "call" },
    element("b", { text: item.name }), element("code", { text: args }));
  const result = item.value?.result;
  return result === undefined ? [line] : [line, fold(`→ ${line1(result)}`, result)];
}

function fold(summary, value) {
  return element("details", { class: "value" },
    element("summary", { text: summary }), element("pre", { text: asJson(value), tabindex: "0" }));
}

function stateLine(value) {
  return Object.entries(value ?? {}).map(([key, held]) => `${key}: ${line1(held)}`).join(" · ");
}

function title(value) {
  if (Array.isArray(value)) return value.map(title).join(" · ");
  if (value === null || typeof value !== "object") return line1(value);
  return line1(value.title ?? value.topic ?? value.name ?? value.type ?? value);
}

export function question(value) {
  if (typeof value === "string") return value;
  const asked = value?.question ?? value?.message ?? value?.description;
  return typeof asked === "string" ? asked : null;
}

function line1(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 90 ? `${text.slice(0, 90)}…` : text;
}

export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(2)} MB`;
}
