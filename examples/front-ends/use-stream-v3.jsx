// React: `useStream` of `@langchain/react`, which speaks protocol v3.
//
// v3 has no event that takes a message away: one that was taken back is left empty, and not shown.

import { useStream } from "@langchain/react";
import { useState } from "react";
import { createRoot } from "react-dom/client";

import { graph, url } from "./asked.js";

function Chat() {
  const [question, setQuestion] = useState("What is the capital of France?");
  const stream = useStream({ apiUrl: url, assistantId: graph });

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
        {stream.messages
          .filter((message) => message.text)
          .map((message) => (
            <li key={message.id} data-type={message.type}>
              {message.text}
            </li>
          ))}
      </ol>
      <output>{stream.error ? String(stream.error) : stream.isLoading ? "…" : "done"}</output>
    </>
  );
}

createRoot(document.querySelector("#root")).render(<Chat />);
