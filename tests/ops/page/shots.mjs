// The pictures of docs/page.md: `python -m tests.ops.page.shots`.

import { chromium } from "playwright-core";

const { url, executablePath, folder } = JSON.parse(process.argv[2]);
const PICTURES = [
  { name: "page-light", graph: "agent", theme: "light", width: 1280, height: 1150 },
  { name: "page-dark", graph: "research", theme: "dark", width: 1280, height: 900 },
  { name: "page-phone", graph: "agent", theme: "light", width: 390, height: 844 },
];

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
for (const { name, graph, theme, width, height } of PICTURES) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
  const page = await context.newPage();
  await page.goto(`${url}/once`);
  await page.waitForSelector(`#graph option[value=${graph}]`, { state: "attached" });
  await page.selectOption("#graph", graph);
  await page.click("#run");
  await page.waitForFunction(() => /Done|waits/.test(document.querySelector("#status").textContent));
  if (width < 500) await page.click("[data-show=stock]");
  await page.evaluate(() => {
    document.activeElement.blur();
    scrollTo(0, 0);
  });
  await page.waitForTimeout(300); // until what was scrolled is painted
  await page.screenshot({ path: `${folder}/${name}.png` });
  await context.close();
}
await browser.close();
