// Streams one run with the stock SDK, and prints as JSON what a user of it gets.
//
// argv[2]: {url, graph, input, folder}; with a folder, each event of the mode `custom`
// is answered by a file there, without which the graph does not go on.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";

const asked = JSON.parse(process.argv[2]);
const encodings = [];
const resumedFrom = [];

async function watchedFetch(url, init) {
  const response = await fetch(url, init);
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    encodings.push(response.headers.get("content-encoding"));
    const id = new Headers(init.headers).get("last-event-id");
    if (id) resumedFrom.push(id);
  }
  return response;
}

const client = new Client({
  apiUrl: asked.url,
  apiKey: null,
  callerOptions: { fetch: watchedFetch, maxRetries: 0 },
});

const texts = {};
const steps = [];
let state = null;

const { thread_id: threadId } = await client.threads.create();
const run = client.runs.stream(threadId, asked.graph, {
  input: asked.input,
  streamMode: ["messages-tuple", "updates", "values", "custom"],
  streamResumable: true,
  onDisconnect: "continue",
});

for await (const { event, data } of run) {
  if (event === "messages") {
    const [{ id, content }] = data;
    texts[id] = (texts[id] ?? "") + content;
  } else if (event === "custom") {
    steps.push(data.step);
    writeFileSync(join(asked.folder, String(data.step)), "");
  } else if (event === "values") {
    state = data;
  }
}

const told = {
  texts: Object.values(texts),
  said: state.messages.map(({ content }) => content),
  steps,
  encodings,
  resumedFrom: resumedFrom.length,
};
process.stdout.write(JSON.stringify(told));
