// Asks the server. Paths are relative, so that the page works below any prefix.

let header = JSON.parse(sessionStorage.getItem("once-header") ?? "null");

export const hasHeader = () => header !== null;

export function useHeader(name, value) {
  header = value ? [name, value] : null;
  sessionStorage.setItem("once-header", JSON.stringify(header));
}

export async function ask(path, body) {
  const response = await request(path, body);
  return response.status === 204 ? null : response.json();
}

async function request(path, body, signal) {
  const headers = { Accept: "application/json, text/event-stream" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (header) headers[header[0]] = header[1];
  const method = body === undefined ? "GET" : "POST";
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const response = await fetch(path, { method, headers, signal, body: sent }).catch((error) => {
    throw signal?.aborted ? error : new Error("The server does not answer. Is it running?");
  });
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response) {
  const text = await response.text();
  let detail = text;
  try {
    detail = JSON.parse(text).detail ?? text;
  } catch { /* not JSON: shown as it is */ }
  const said = typeof detail === "string" ? detail : JSON.stringify(detail);
  return Object.assign(new Error(`${response.status}: ${said || response.statusText}`), {
    status: response.status,
  });
}

// The view events of `/once/watch`, in lists of those that came at once.
export async function* watch(body, signal) {
  const response = await request("once/watch", body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let isWhole = false;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const frames = (rest + value).split("\n\n");
    rest = frames.pop();
    isWhole ||= frames.some((frame) => frame.startsWith("event: end"));
    yield frames.filter((frame) => frame.startsWith("data: ")).map((frame) => JSON.parse(frame.slice(6)));
  }
  if (!isWhole) throw new Error("The connection was cut");
}
