// What a person sees: each list of messages that was shown, in order.

/** The lists that were shown since the beginning of a turn; the same list is noted once. */
export class Screen {
  now = [];
  #snapshots = [];
  #times = [];
  #began = 0;

  begin() {
    this.#snapshots = [];
    this.#times = [];
    this.#began = performance.now();
  }

  show(messages) {
    const seen = messages.filter((message) => message != null).map(shown);
    const same = JSON.stringify(seen) === JSON.stringify(this.now);
    this.now = seen;
    if (same) return;
    this.#snapshots.push(seen);
    this.#times.push(Math.round(performance.now() - this.#began));
  }

  end() {
    return { snapshots: this.#snapshots, times: this.#times };
  }
}

function shown(message) {
  const calls = message.tool_calls ?? message.toolCalls ?? [];
  return {
    id: message.id ?? null,
    type: typeOf(message),
    text: textOf(message.content),
    tool_calls: calls.map((call) => call.id ?? null),
  };
}

const ROLES = { user: "human", assistant: "ai" };

function typeOf(message) {
  const type = message.getType?.() ?? message.type ?? message.role;
  return ROLES[type] ?? type;
}

function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof part === "string" ? part : (part?.text ?? ""))).join("");
}
