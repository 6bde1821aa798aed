// Folds view events as the page does: a list of them in, what both sides hold out.

import { readFileSync } from "node:fs";

const { view: path, events } = JSON.parse(readFileSync(0, "utf8"));
const { apply, emptyView } = await import(path);
const view = emptyView();
for (const event of events) apply(view, event);
process.stdout.write(JSON.stringify(view));
