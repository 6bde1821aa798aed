// One side: its counts, its status, its items.

import { asJson, element } from "./dom.js";
import { laneName, textOf } from "./view.js";

const LANES = 6; // colours

const BADGES = {
  stock: {
    cut: "said again", draft: "in no state", lost: "never said", taken_back: "taken back",
    repaired: "repaired",
  },
  once: {
    cut: "cut", draft: "draft", lost: "never said", taken_back: "taken back", repaired: "repaired",
  },
};

const STATES = {
  running: "running", finished: "finished", interrupted: "waits for an answer", failed: "failed",
};

const COUNTS = [
  ["again", "said again", "Texts that the reader was shown again, or that a failed attempt left behind"],
  ["lost", "never said", "Texts of the state that no event of `messages` told"],
  ["bytes", "on the wire", "Bytes of the event stream. LangGraph does not compress it; our app does"],
];

const SMALL = [
  ["drafts", "in no state"], ["taken_back", "taken back"], ["cut", "cut here"],
  ["repaired", "repaired"], ["parts", "events"],
];

export class SideRenderer {
  constructor(section) {
    this.name = section.dataset.side;
    this.list = section.querySelector(".items");
    this.counts = section.querySelector(".counts");
    this.status = section.querySelector("[data-status]");
    this.clear();
  }

  clear() {
    this.nodes = [];
    this.list.replaceChildren();
  }

  // Shows a side; `changed` are its items that are others than before, or null for all.
  show(side, changed) {
    this.list.toggleAttribute("data-running", side.status === "running");
    this.status.textContent = stateOf(side);
    this.status.dataset.status = side.status ?? "";
    this.showCounts(side.counts);
    side.items.forEach((item, at) => {
      if (this.nodes[at] && changed && !changed.has(item)) return;
      const shown = this.item(item, side, at);
      if (this.nodes[at]) this.nodes[at].replaceWith(shown);
      else this.list.append(shown);
      this.nodes[at] = shown;
    });
  }

  showCounts(counts) {
    const big = COUNTS.map(([name, label, why]) => {
      const value = counts[name] ?? 0;
      const isBad = name !== "bytes" && value > 0;
      return element("div", { class: "count", "data-count": name, "data-bad": isBad, title: why },
        element("dt", { text: label }),
        element("dd", { text: name === "bytes" ? size(value) : value }));
    });
    const small = SMALL.filter(([name]) => counts[name] > 0).map(([name, label]) =>
      element("div", { class: "small", "data-count": name },
        element("dt", { text: label }), element("dd", { text: counts[name].toLocaleString("en") })));
    this.counts.replaceChildren(...big, ...small);
  }

  item(item, side, at) {
    const lane = side.lanes[item.lane];
    const before = side.items[at - 1];
    const speaks = !before || before.lane !== item.lane;
    const mark = markOf(item);
    const badge = BADGES[this.name][mark];
    const where = [laneName(lane), item.node].filter(Boolean).join(" › ");
    const head = element("div", { class: "item-head" },
      element("span", { class: "where", text: speaks || item.node ? where : laneName(lane) }),
      element("span", { class: "kind", text: kindOf(item) }),
      badge ? element("mark", { class: mark, text: badge }) : null);
    return element("li", {
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
      case "interrupt": return [fold(question(item.value) ?? "A question", item.value, true)];
      case "custom": case "ui": return [fold(title(item.value), item.value)];
      default: return [element("p", { class: "text", text: asJson(item.value) })];
    }
  }

  words(item) {
    const text = element("p", { class: "text" });
    for (const piece of item.pieces) {
      const label = piece.mark === "kept" || piece.mark === item.mark ? null : BADGES[this.name][piece.mark];
      text.append(element("span", {
        class: `piece ${piece.mark} ${piece.kind}`, title: BADGES[this.name][piece.mark],
      }, label ? element("span", { class: "unseen", text: `${label}: ` }) : null, piece.text));
    }
    return text;
  }
}

function stateOf(side) {
  if (!side.status) return "";
  if (side.status === "running" && side.items.length === 0) return "waits for its turn";
  return side.error ? `${STATES[side.status]}: ${side.error}` : STATES[side.status];
}

// The mark of an item: its own, or that of all its pieces.
function markOf(item) {
  const [first, ...rest] = item.pieces;
  const isOne = first && rest.every((piece) => piece.mark === first.mark);
  return item.mark === "kept" && isOne ? first.mark : item.mark;
}

function kindOf(item) {
  if (item.kind === "message") return item.name === "ai" ? "" : item.name;
  if (item.kind === "artifact") return `artifact ${item.name}`;
  return item.kind.replace("_", " ");
}

function call(item) {
  const args = textOf(item) || asJson(item.value?.args ?? {});
  const line = element("p", { class: "call" },
    element("b", { text: item.name }), element("code", { text: args }),
    element("span", { class: "outcome", "data-status": item.status ?? "open", text: item.status ?? "…" }));
  const result = item.value?.result;
  return result === undefined ? [line] : [line, fold(`→ ${line1(result)}`, result)];
}

function fold(summary, value, isOpen = false) {
  return element("details", { class: "value", open: isOpen },
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
