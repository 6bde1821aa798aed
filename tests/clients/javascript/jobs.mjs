// Runs the jobs a program is given as JSON, several at a time, and prints what a person saw.
//
// A job: {url, graph, turns: [{input} | {resume}], options}. One thread for each job.
// Told of it: {turns: [{snapshots, times, error, bytes}], final}.

import { Screen } from "./screen.mjs";

const AT_A_TIME = 4;
const TURN_LIMIT_MS = 60_000;

/** Answer the jobs in argv[2] with `open(job, screen, fetch)`, which gives a conversation. */
export async function main(open) {
  // Clients describe at length each event that they have no use for.
  for (const level of ["log", "info", "warn", "debug"]) console[level] = () => {};
  const asked = JSON.parse(process.argv[2]);
  const jobs = asked.jobs ?? [asked];
  const results = new Array(jobs.length);
  let next = 0;
  const worker = async () => {
    while (next < jobs.length) {
      const at = next++;
      results[at] = await run(jobs[at], open);
    }
  };
  await Promise.all(Array.from({ length: asked.concurrency ?? AT_A_TIME }, worker));
  const told = JSON.stringify(asked.jobs ? { results } : results[0]);
  process.stdout.write(told, () => process.exit(0)); // clients leave sockets open
}

async function run(job, open) {
  const screen = new Screen();
  const traffic = { bytes: 0 };
  const turns = [];
  try {
    const conversation = await open(job, screen, countingFetch(traffic));
    for (const turn of job.turns) {
      screen.begin();
      traffic.bytes = 0;
      const error = await said(conversation.take(turn), TURN_LIMIT_MS);
      turns.push({ ...screen.end(), error, bytes: traffic.bytes });
    }
    await conversation.close?.();
  } catch (error) {
    turns.push({ snapshots: [], times: [], error: text(error), bytes: null });
  }
  return { turns, final: screen.now };
}

async function said(turn, limitMs) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(`no end after ${limitMs} ms`), limitMs);
  });
  try {
    const error = await Promise.race([turn, late]);
    return error == null ? null : text(error);
  } catch (error) {
    return text(error);
  } finally {
    clearTimeout(timer);
  }
}

function text(error) {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error?.message ?? error);
}

/** `fetch` that counts the bytes of event streams, as they are after decompression. */
function countingFetch(traffic) {
  return async (url, init) => {
    const response = await fetch(url, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!isStream || !response.body) return response;
    const counted = response.body.pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          traffic.bytes += chunk.byteLength;
          controller.enqueue(chunk);
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(counted, { status, statusText, headers });
  };
}
