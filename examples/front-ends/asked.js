// Which server, and which graph: `?url=http://127.0.0.1:2024&graph=research`.

const given = new URLSearchParams(location.search);

export const url = given.get("url") ?? "http://127.0.0.1:2024";
export const graph = given.get("graph") ?? "agent";
