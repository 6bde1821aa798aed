// View events folded to what is shown; the same as `langgraph_once.watch.View` in Python.

export const SIDES = ["stock", "once"];

export function emptyView() {
  const side = () => ({ lanes: [], items: [], counts: {}, status: null, error: null });
  return { stock: side(), once: side() };
}

// Applies one event; returns the item that it is about, if there is one.
export function apply(view, event) {
  const side = view[event.side];
  switch (event.op) {
    case "began":
      Object.assign(side, { status: "running", error: null });
      return null;
    case "lane":
      side.lanes[event.lane] = { path: event.path, number: event.number };
      return null;
    case "item": {
      const { kind, lane, node, name, value, mark } = event;
      return (side.items[event.item] = { kind, lane, node, name, value, mark, pieces: [] });
    }
    case "said":
      return say(side.items[event.item], event);
    case "changed":
      return change(side.items[event.item], event);
    case "counted":
      side.counts = event.counts;
      return null;
    case "ended":
      side.status = event.status;
      side.error = event.error ?? null;
      return null;
    default:
      return null; // of a newer server
  }
}

function say(item, { text, mark, kind }) {
  const last = item.pieces.at(-1);
  if (last && last.mark === mark && last.kind === kind) last.text += text;
  else item.pieces.push({ text, mark, kind });
  return item;
}

function change(item, { mark, status, value }) {
  item.mark = mark ?? item.mark;
  item.status = status ?? item.status;
  if (isObject(item.value) && isObject(value)) item.value = { ...item.value, ...value };
  else item.value = value ?? item.value;
  return item;
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

export const textOf = (item) => item.pieces.map((piece) => piece.text).join("");

export function waiting(side) {
  return side.items.filter((item) => item.kind === "interrupt" && !item.status);
}

export function laneName(lane) {
  const name = lane.path.join(" / ") || "main";
  return lane.number === 1 ? name : `${name} ${lane.number}`;
}
