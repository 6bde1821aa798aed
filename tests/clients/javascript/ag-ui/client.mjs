// The agent of AG-UI for LangGraph: events of the protocol, and the messages its client keeps.

import { LangGraphAgent } from "@ag-ui/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { main } from "../jobs.mjs";

await main(async (job, screen, fetch) => {
  const callerOptions = { fetch, maxRetries: 0 };
  const client = new Client({ apiUrl: job.url, apiKey: null, callerOptions });
  const agent = new LangGraphAgent({ client, deploymentUrl: job.url, graphId: job.graph });
  agent.threadId = crypto.randomUUID();
  const show = () => screen.show(agent.messages);
  let failed = null;
  agent.subscribe({
    onMessagesChanged: show,
    onRunErrorEvent: ({ event }) => {
      failed = event.message;
    },
    onRunFailed: ({ error }) => {
      failed = error;
    },
  });
  return {
    async take(turn) {
      failed = null;
      const options = job.options ?? {};
      if ("resume" in turn) options.forwardedProps = { command: { resume: turn.resume } };
      else agent.addMessages((turn.input.messages ?? []).map(asked));
      await agent.runAgent(options);
      show();
      return failed;
    },
  };
});

function asked({ id, content }) {
  return { id: id ?? crypto.randomUUID(), role: "user", content };
}
