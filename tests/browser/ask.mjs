// Opens pages of `examples/front-ends`, asks each, and prints what it shows, as JSON.
//
//     node ask.mjs <folder of playwright-core> <browser> <flags> <urls, as JSON>

import { createRequire } from "node:module";

const [folder, executablePath, flags, urls] = process.argv.slice(2);
const { chromium } = createRequire(`${folder}/package.json`)("playwright-core");

const browser = await chromium.launch({ executablePath, args: JSON.parse(flags) });

async function shown(url) {
  const page = await browser.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(url);
  await page.getByRole("button", { name: "Ask" }).click();
  await page.locator("output", { hasText: /^(?!$|…)/ }).waitFor();
  return {
    problems,
    status: await page.locator("output").textContent(),
    shown: await page
      .locator("li")
      .evaluateAll((items) => items.map((item) => [item.dataset.type, item.textContent])),
  };
}

const pages = JSON.parse(urls).map(async (url) => [url, await shown(url)]);
const told = Object.fromEntries(await Promise.all(pages));
await browser.close();
process.stdout.write(JSON.stringify(told));
