// Which server, and which graph: `?url=http://127.0.0.1:2024&graph=research`.
// The thread is kept there, too, so that it is still shown when the page is loaded again.

const given = new URLSearchParams(location.search);

export const url = given.get("url") ?? "http://127.0.0.1:2024";
export const graph = given.get("graph") ?? "agent";
export const thread = given.get("thread");

export function keepThread(id) {
  given.set("thread", id);
  history.replaceState(null, "", `?${given}`);
}
