// View events folded to what is shown; the same as `langgraph_once.inspect.View` in Python.

export const SIDES = ["stock", "once"];

export function emptyView() {
  const side = () => ({ lanes: [], items: [], counts: {}, status: null, error: null });
  return { stock: side(), once: side() };
}

// Applies one event; returns the item that it is about, if there is one.
export function apply(view, event) {
  const side = view[event.side];
  switch (event.op) {
    case "Began":
      Object.assign(side, { status: "running", error: null });
      return null;
    case "LaneOpened":
      side.lanes[event.lane] = fields(event);
      return null;
    case "ItemOpened":
      return (side.items[event.item] = { ...fields(event), pieces: [] });
    case "TextAppended":
      return say(side.items[event.item], event);
    case "ItemChanged":
      return change(side.items[event.item], event);
    case "CountsChanged":
      side.counts = event.counts;
      return null;
    case "Ended":
      side.status = event.status;
      side.error = event.error ?? null;
      return null;
    default:
      return null; // of a newer server
  }
}

// What an event tells, without what it is and when it came.
function fields({ op, at, ...told }) {
  return told;
}

function say(item, event) {
  const last = item.pieces.at(-1);
  if (last && last.mark === event.mark && last.kind === event.kind) last.text += event.text;
  else item.pieces.push(fields(event));
  return item;
}

function change(item, { mark, status, value, repeats }) {
  if (repeats) item.pieces = repeated(item.pieces, repeats);
  item.mark = mark ?? item.mark;
  item.status = status ?? item.status;
  if (value) item.value = { ...item.value, ...value };
  return item;
}

// The pieces, the first `size` characters of whose words are repeated.
function repeated(pieces, size) {
  return pieces.flatMap((piece) => {
    if (!size || piece.kind !== "text") return [piece];
    const letters = [...piece.text]; // as Python counts them
    const head = letters.slice(0, size);
    size -= head.length;
    const tail = letters.slice(head.length).join("");
    return [{ ...piece, text: head.join(""), mark: "repeated" }, ...(tail ? [{ ...piece, text: tail }] : [])];
  });
}

export const textOf = (item) => item.pieces.map((piece) => piece.text).join("");

export function waiting(side) {
  return side.items.filter((item) => item.kind === "interrupt" && !item.status);
}

export function laneName(lane) {
  const name = lane.path.join(" / ") || "main";
  return lane.number === 1 ? name : `${name} ${lane.number}`;
}
