// A Chromium that asks nobody but the page's server, and when the page in it is ready.

import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

export const launched = (executablePath) => chromium.launch({ executablePath, args: FLAGS });

export const hasGraphs = (page) =>
  page.waitForFunction(() => document.querySelectorAll("#graph option").length > 0);
