// The form that answers interrupts, on both sides alike.

import { asJson, byId, element } from "./dom.js";
import { question } from "./render.js";
import { SIDES, waiting } from "./view.js";

export class Answer {
  constructor(onAnswer) {
    this.panel = byId("answer");
    this.text = byId("answer-text");
    this.json = byId("answer-json");
    this.shown = "";
    byId("answer-form").addEventListener("submit", (event) => {
      event.preventDefault();
      let value = this.text.value;
      try {
        if (this.json.checked) value = JSON.parse(value);
      } catch (error) {
        this.text.setCustomValidity(`No JSON: ${error.message}`);
        this.text.reportValidity();
        return;
      }
      onAnswer(value);
    });
    this.text.addEventListener("input", () => this.text.setCustomValidity(""));
    this.json.addEventListener("change", () => this.text.setCustomValidity(""));
    this.onAnswer = onAnswer;
  }

  // Shows what both sides wait for; returns whether it has just begun to.
  show(view, isIdle) {
    const items = SIDES.map((side) => waiting(view[side])).find((found) => found.length) ?? [];
    const values = isIdle ? items.map((item) => item.value) : [];
    const key = JSON.stringify(values);
    if (key === this.shown) return false;
    this.shown = key;
    this.panel.hidden = values.length === 0;
    if (values.length === 0) return false;
    byId("question").replaceChildren(...values.map((value) => element("div", {},
      element("p", { text: question(value) ?? "" }),
      element("details", {}, element("summary", { text: "All that it says" }),
        element("pre", { text: asJson(value), tabindex: "0" })))));
    byId("choices").replaceChildren(...choices(values[0]).map(({ label, value }) =>
      element("button", { type: "button", text: label, onclick: () => this.onAnswer(value) })));
    this.text.value = "";
    return true;
  }
}

// What to offer at a click. Everything else can be typed.
function choices(value) {
  if (Array.isArray(value?.action_requests)) { // LangChain's human in the loop
    const all = (type) => ({ decisions: value.action_requests.map(() => ({ type })) });
    return [{ label: "Approve", value: all("approve") }, { label: "Reject", value: all("reject") }];
  }
  const options = value?.options ?? value?.choices;
  if (Array.isArray(options)) return options.map((each) => ({ label: asJson(each), value: each }));
  return [
    { label: "approve", value: "approve" }, { label: "reject", value: "reject" },
    { label: "true", value: true }, { label: "false", value: false },
  ];
}

// What one side is resumed with: its interrupts have ids of their own.
export function resumeOf(side, value) {
  const names = waiting(side).map((item) => item.name);
  return names.length < 2 ? value : Object.fromEntries(names.map((name) => [name, value]));
}
