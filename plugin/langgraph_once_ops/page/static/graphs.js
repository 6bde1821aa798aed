// The graphs of the server, and the input that is given to one.

import { ask } from "./stream.js";
import { byId, element } from "./dom.js";

const QUESTION = "How do agents deliver each message exactly once?";
const ASK = /\s*\bAsk: (.+)$/; // how the description of a graph may end: what to ask it

export class Input {
  constructor() {
    this.select = byId("graph");
    this.text = byId("input");
    this.json = byId("as-json");
    this.graphs = new Map();
    this.text.value = this.question = QUESTION;
    this.select.addEventListener("change", () => this.choose());
    this.json.addEventListener("change", () => this.switch());
    this.text.addEventListener("input", () => this.fit());
  }

  get graph() {
    return this.select.value;
  }

  // Asks the server for its graphs. Throws if it does not answer.
  async load(chosen) {
    const found = await ask("assistants/search", { limit: 200 });
    this.graphs = new Map(found.map((each) => [each.graph_id, each]).reverse());
    const names = [...this.graphs.keys()].sort();
    this.select.replaceChildren(...names.map((name) => element("option", { value: name, text: name })));
    this.select.value = names.includes(chosen) ? chosen : (names[0] ?? "");
    await this.choose();
  }

  async choose() {
    const { assistant_id, description } = this.graphs.get(this.graph) ?? {};
    const isUntouched = this.json.checked || this.text.value === this.question;
    this.question = description?.match(ASK)?.[1] ?? QUESTION;
    byId("graph-about").textContent = (description ?? "").replace(ASK, "");
    if (isUntouched) { // at once: who presses Run meanwhile asks what is shown
      this.json.checked = false;
      this.text.value = this.question;
    }
    this.label();
    if (!assistant_id) return;
    this.schema = await ask(`assistants/${assistant_id}/schemas`)
      .then((schemas) => schemas.input_schema ?? {}, () => ({}));
    const takesMessages = "messages" in (this.schema.properties ?? { messages: {} });
    this.json.disabled = !takesMessages;
    if (!takesMessages && !this.json.checked) {
      this.json.checked = true;
      this.text.value = JSON.stringify(skeleton(this.schema), null, 2);
    }
    this.label();
  }

  switch() {
    const value = this.text.value;
    if (this.json.checked) this.text.value = JSON.stringify(messages(value), null, 2);
    else this.text.value = read(value)?.messages?.at(-1)?.content ?? this.question;
    this.label();
  }

  label() {
    byId("input-label").textContent = this.json.checked ? "Input, as JSON" : "Message";
    this.text.classList.toggle("code", this.json.checked);
    this.fit();
  }

  fit() {
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(this.text.scrollHeight + 2, 260)}px`;
  }

  // The input of a run. Throws if it is no JSON and should be.
  value() {
    return this.json.checked ? JSON.parse(this.text.value) : messages(this.text.value);
  }
}

const messages = (text) => ({ messages: [{ role: "user", content: text }] });

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const EMPTY = { string: "", integer: 0, number: 0, boolean: false, array: [], object: {} };

function skeleton(schema) {
  const keys = Object.entries(schema.properties ?? {});
  return Object.fromEntries(keys.map(([key, { type, default: given }]) => [key, given ?? EMPTY[type] ?? null]));
}
