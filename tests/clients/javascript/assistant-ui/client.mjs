// The runtime of assistant-ui for LangGraph, with the messages that its thread shows.
//
// Options: {streamMode}, by default what the runtime asks for itself.

import { getExternalStoreMessages } from "@assistant-ui/core";
import { AssistantRuntimeProvider } from "@assistant-ui/core/react";
import {
  unstable_createLangGraphStream as createLangGraphStream,
  useLangGraphRuntime,
  useLangGraphSend,
} from "@assistant-ui/react-langgraph";
import { useAuiState } from "@assistant-ui/store";
import { Client } from "@langchain/langgraph-sdk";
import { Window } from "happy-dom";
import { createElement, useMemo } from "react";
import * as react from "react";
import { createRoot } from "react-dom/client";
import { main } from "../jobs.mjs";
import { makeDocument, rendered, settled, until } from "../rendered.mjs";

makeDocument(Window);

await main(async (job, screen, fetch) => {
  const callerOptions = { fetch, maxRetries: 0 };
  const client = new Client({ apiUrl: job.url, apiKey: null, callerOptions });
  const { streamMode } = job.options ?? {};
  const asked = { client, assistantId: job.graph, ...(streamMode && { streamMode }) };
  const { thread_id: threadId } = await client.threads.create();

  let failed = null;
  const eventHandlers = { onError: (error) => (failed = error) };

  function Thread({ children }) {
    const stream = useMemo(() => onThread(threadId, createLangGraphStream(asked)), []);
    const runtime = useLangGraphRuntime({ stream, eventHandlers });
    return createElement(AssistantRuntimeProvider, { runtime }, children);
  }

  let seen;
  const use = () => ({
    thread: useAuiState((state) => state.thread),
    send: useLangGraphSend(),
  });
  const note = (it) => {
    seen = it;
    screen.show(it.thread.messages.flatMap(sources));
  };
  const root = rendered({ ...react, createRoot }, use, note, (hooked) =>
    createElement(Thread, null, hooked),
  );
  await until(() => seen);
  return {
    async take(turn) {
      failed = null;
      const resumes = "resume" in turn;
      const { messages = [], ...state } = turn.input ?? {};
      const config = resumes ? { command: { resume: turn.resume } } : {};
      if (Object.keys(state).length) config.state = state;
      await seen.send(resumes ? [] : messages, config);
      await settled();
      await until(() => !seen.thread.isRunning);
      await settled();
      return failed;
    },
    close: () => root.unmount(),
  };
});

/** The stream of a thread that is there already; the threads of the cloud are no part of this. */
function onThread(threadId, stream) {
  const initialize = async () => ({ remoteId: threadId, externalId: threadId });
  return (messages, config) => stream(messages, { ...config, initialize });
}

/** The messages of LangGraph that a message of the thread is made of. */
function sources(message) {
  return getExternalStoreMessages(message);
}
