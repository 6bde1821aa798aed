// `useStream` of @langchain/react: protocol v3, over event streams.

import { useStream } from "@langchain/react";
import { Window } from "happy-dom";
import * as react from "react";
import { createRoot } from "react-dom/client";
import { main } from "../jobs.mjs";
import { makeDocument, rendered, settled, until } from "../rendered.mjs";

makeDocument(Window);

await main(async (job, screen, fetch) => {
  let stream;
  let began;
  const callerOptions = { fetch, maxRetries: 0 }; // the same at each render, or all begins anew
  const use = () =>
    useStream({
      apiUrl: job.url,
      apiKey: null,
      assistantId: job.graph,
      callerOptions,
      fetch,
      ...job.options,
    });
  const root = rendered({ ...react, createRoot }, use, (hook) => {
    stream = hook;
    began ||= hook.isLoading || hook.error != null;
    screen.show(hook.messages);
  });
  await until(() => stream && !stream.isThreadLoading);
  return {
    async take(turn) {
      began = false;
      if ("resume" in turn) await stream.respond(turn.resume);
      else await stream.submit(turn.input);
      await until(() => began); // an answer is accepted before its run begins
      await ended(job.url, stream.threadId);
      await until(() => !stream.isLoading);
      await settled();
      return stream.error;
    },
    close: () => root.unmount(),
  };
});

/** The hook stops loading for a moment before a later run has begun: only the server knows. */
async function ended(url, threadId) {
  const isOn = ({ status }) => status === "pending" || status === "running";
  const runs = async () => (await fetch(`${url}/threads/${threadId}/runs`)).json();
  while ((await runs()).some(isOn)) await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise((resolve) => setTimeout(resolve, 200)); // what it has sent is under way
}
