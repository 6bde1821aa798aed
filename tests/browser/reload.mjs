// Asks a page, loads it again amid the run, and prints what each painted frame showed, as JSON.
//
//     node reload.mjs <folder of playwright-core> <browser> <flags> <url> <reloads>
//
// For each reload `painted`, what the page showed, one after the other: [type, length of its text] of
// each message; and `encoding`, how the stream of the run was encoded that the page joined.

import { createRequire } from "node:module";

const [folder, executablePath, flags, url, reloads] = process.argv.slice(2);
const { chromium } = createRequire(`${folder}/package.json`)("playwright-core");

const RELOADS_OF_A_RUN = 5;
const READ_MS = 1200;

function watch() {
  window.painted = [];
  function note() {
    const items = [...document.querySelectorAll("li")];
    const shown = JSON.stringify(items.map((item) => [item.dataset.type, item.textContent.length]));
    if (window.painted.at(-1) !== shown) window.painted.push(shown);
    requestAnimationFrame(note);
  }
  requestAnimationFrame(note);
}

const browser = await chromium.launch({ executablePath, args: JSON.parse(flags) });
const page = await browser.newPage();
await page.addInitScript(watch);
let encoding;
page.on("response", (answer) => {
  const { pathname } = new URL(answer.url());
  const joined = answer.request().method() === "GET" && pathname.endsWith("/stream");
  if (joined) encoding = answer.headers()["content-encoding"] ?? "none";
});

const told = [];
while (told.length < Number(reloads)) {
  await page.goto(url);
  await page.getByRole("button", { name: "Ask" }).click();
  await page.locator("li:nth-child(3)").waitFor({ timeout: 60_000 });
  for (let i = 0; i < RELOADS_OF_A_RUN && told.length < Number(reloads); i++) {
    encoding = "not joined";
    await page.reload();
    await page.waitForTimeout(READ_MS);
    const painted = (await page.evaluate(() => window.painted)).map((shown) => JSON.parse(shown));
    told.push({ painted, encoding });
  }
}
await browser.close();
process.stdout.write(JSON.stringify(told));
