// `useStream` of @langchain/langgraph-sdk/react, as of 1.x and 2.x.

import { makeDocument, rendered, settled, until } from "./rendered.mjs";

/** What `jobs.mjs` opens: a conversation through `useStream`. */
export function useStreamClient({ useStream, Window, react, createRoot }) {
  makeDocument(Window);
  return async (job, screen, fetch) => {
    const { streamSubgraphs, submit = {}, ...options } = job.options ?? {};
    const callerOptions = { fetch, maxRetries: 0 };
    let stream;
    const use = () => {
      const hook = useStream({
        apiUrl: job.url,
        apiKey: null,
        assistantId: job.graph,
        messagesKey: "messages",
        callerOptions,
        ...options,
      });
      return { hook, messages: hook.messages };
    };
    const root = rendered({ ...react, createRoot }, use, ({ hook, messages }) => {
      stream = hook;
      screen.show(messages);
    });
    await until(() => stream && !stream.isThreadLoading);
    return {
      async take(turn) {
        const asked = { ...submit, ...(streamSubgraphs && { streamSubgraphs }) };
        const resumes = "resume" in turn;
        const config = resumes ? { ...asked, command: { resume: turn.resume } } : asked;
        await stream.submit(resumes ? undefined : turn.input, config);
        await settled();
        await until(() => !stream.isLoading);
        await settled();
        return stream.error;
      },
      close: () => root.unmount(),
    };
  };
}
