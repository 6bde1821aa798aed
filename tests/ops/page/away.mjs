// Drives the page while its server stops and starts again. Says `shown` once a run is shown, and
// `gone` once the page says that the server does not answer; then it waits for the server.

import assert from "node:assert/strict";
import { hasGraphs, launched } from "./browser.mjs";

const { url, executablePath } = JSON.parse(process.argv[2]);
const browser = await launched(executablePath);
const page = await browser.newPage();
const says = (text) =>
  page.waitForFunction((it) => document.querySelector("#status").textContent.includes(it), text, { timeout: 30_000 });
const words = () => page.textContent("[data-side=once] .items");

await page.goto(`${url}/once`);
await hasGraphs(page);
await page.selectOption("#graph", "endless");
await page.click("#run");
await page.waitForFunction(() => /word5/.test(document.querySelector("[data-side=once] .items").textContent));
console.log("shown");

await says("The server does not answer. Trying again");
assert.match(await words(), /word5/, "what was shown stays");
assert.ok(await page.isHidden("#problem"));
console.log("gone");

await page.waitForFunction(() => !document.querySelector("#status").textContent.includes("does not answer"), null, { timeout: 60_000 });
await page.selectOption("#graph", "slow");
if (await page.isVisible("#stop")) await page.click("#stop");
await page.waitForSelector("#run:enabled");
await page.click("#run");
await says("Done.");
assert.match(await words(), /word79/);
await browser.close();
