// React: `useStream` as LangChain ships it. Nothing here knows that the graph is wrapped.

import { useStream } from "@langchain/langgraph-sdk/react";
import { useState } from "react";
import { createRoot } from "react-dom/client";

import { graph, keepThread, thread, url } from "./asked.js";

function Chat() {
  const [question, setQuestion] = useState("What is the capital of France?");
  const [threadId, setThreadId] = useState(thread);
  const stream = useStream({
    apiUrl: url,
    assistantId: graph,
    messagesKey: "messages",
    threadId,
    onThreadId(id) {
      setThreadId(id);
      keepThread(id);
    },
    reconnectOnMount: true, // a page that is loaded again joins the run that goes on
  });

  function ask(event) {
    event.preventDefault();
    stream.submit({ messages: [{ type: "human", content: question }] });
  }

  return (
    <>
      <form onSubmit={ask}>
        <label>
          You <input value={question} onChange={(event) => setQuestion(event.target.value)} />
        </label>
        <button>Ask</button>
      </form>
      <ol aria-live="polite">
        {stream.messages.map((message) => (
          <li key={message.id} data-type={message.type}>
            {typeof message.content === "string"
              ? message.content
              : message.content.map((block) => block.text ?? "").join("")}
          </li>
        ))}
      </ol>
      <output>{stream.error ? String(stream.error) : stream.isLoading ? "…" : "done"}</output>
    </>
  );
}

createRoot(document.querySelector("#root")).render(<Chat />);
