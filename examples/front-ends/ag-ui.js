// AG-UI: its client, in front of `ag_ui_server.py`.

import { HttpAgent } from "@ag-ui/client";

import { url } from "./asked.js";

const form = document.querySelector("form");
const list = document.querySelector("ol");
const status = document.querySelector("output");

const agent = new HttpAgent({ url: `${url}/run` });

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const content = new FormData(form).get("question");
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
  status.value = "…";
  try {
    await agent.runAgent(
      {},
      {
        onMessagesChanged: ({ messages }) => show(messages),
        onCustomEvent: ({ event, messages }) => ({ messages: corrected(messages, event) }),
      },
    );
    status.value = "done";
  } catch (error) {
    status.value = error.message;
  }
});

// AG-UI has no event that takes a message back. Ours come as custom ones, named like the typed events.
function corrected(messages, { name, value }) {
  const { old_id, message_id, message } = value;
  if (name === "message_superseded") return messages.filter(({ id }) => id !== old_id);
  if (name === "message_removed") return messages.filter(({ id }) => id !== message_id);
  if (name !== "message_replaced") return messages;
  const { content } = message;
  return messages.map((known) => (known.id === message_id ? { ...known, content } : known));
}

function show(messages) {
  list.replaceChildren(
    ...messages.map(({ role, content }) => {
      const item = document.createElement("li");
      item.dataset.type = role === "user" ? "human" : role === "assistant" ? "ai" : role;
      item.textContent = content ?? "";
      return item;
    }),
  );
}
