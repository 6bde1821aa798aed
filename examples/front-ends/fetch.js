// No library: a run of a LangGraph server, read with `fetch`.
//
// Two rules are all it takes. A message of `messages` is added to what came under its id.
// A `values` is the whole state: its messages take the place of all that is shown.

import { graph, url } from "./asked.js";

const form = document.querySelector("form");
const list = document.querySelector("ol");
const status = document.querySelector("output");

let thread;
let shown = []; // [{id, type, content}]

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const question = new FormData(form).get("question");
  status.value = "…";
  try {
    thread ??= (await post("/threads", {}).then((answer) => answer.json())).thread_id;
    const answer = await post(`/threads/${thread}/runs/stream`, {
      assistant_id: graph,
      input: { messages: [{ role: "user", content: question }] },
      stream_mode: ["messages-tuple", "values"],
    });
    for await (const { name, data } of events(answer.body)) {
      if (name === "messages") add(data[0]);
      else if (name === "values" && data.messages) shown = data.messages;
      else if (name === "error") throw new Error(data.message);
      show();
    }
    status.value = "done";
  } catch (error) {
    status.value = error.message;
  }
});

function post(path, body) {
  const headers = { "content-type": "application/json" };
  return fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) }).then(
    (answer) => (answer.ok ? answer : Promise.reject(new Error(`the server says ${answer.status}`))),
  );
}

function add(chunk) {
  const known = shown.find((message) => message.id === chunk.id);
  if (known) known.content = text(known.content) + text(chunk.content);
  else shown.push({ ...chunk, type: chunk.type.replace(/MessageChunk$/, "").toLowerCase() });
}

function show() {
  list.replaceChildren(
    ...shown.map((message) => {
      const item = document.createElement("li");
      item.dataset.type = message.type;
      item.textContent = text(message.content);
      return item;
    }),
  );
}

function text(content) {
  if (typeof content === "string") return content;
  return content.map((block) => block.text ?? "").join("");
}

/** The events of an SSE body, as they come. */
async function* events(body) {
  let rest = "";
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + part).split(/\r?\n\r?\n/);
    rest = frames.pop();
    for (const frame of frames) {
      const fields = frame.split(/\r?\n/).map((line) => line.split(/: ?(.*)/s));
      const name = fields.find(([key]) => key === "event")?.[1];
      const data = fields.filter(([key]) => key === "data").map(([, value]) => value);
      if (name && data.length) yield { name: name.split("|")[0], data: JSON.parse(data.join("\n")) };
    }
  }
}
