// Drives the page at /once as its users do: one server, one browser. Prints, for each step, null or
// what was wrong.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { hasGraphs, launched } from "./browser.mjs";

const { url, executablePath, takesLong } = JSON.parse(process.argv[2]);
const WAIT = { timeout: 20_000 };
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const browser = await launched(executablePath);
const noise = [];
const results = {};

async function opened({ width = 1280, height = 900, theme = "light", address = `${url}/once` } = {}) {
  // What moves is painted without a GPU, for seconds of computing.
  const looks = { viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce" };
  const context = await browser.newContext(looks);
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT.timeout);
  page.on("console", (message) => noise.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => noise.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== url) noise.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  await hasGraphs(page);
  return page;
}

async function step(name, run) {
  try {
    await run();
    results[name] = null;
  } catch (error) {
    results[name] = String(error.stack ?? error);
  }
}

// A step that takes seconds; none that follows needs it.
async function longStep(name, run) {
  if (takesLong) await step(name, run);
}

const said = (page, words) =>
  page.waitForFunction((text) => document.querySelector("#status").textContent.includes(text), words, WAIT);

const counts = (page, side) =>
  page.$$eval(`[data-side=${side}] .counts div`, (found) =>
    Object.fromEntries(found.map((each) => [each.dataset.count, each.querySelector("dd").textContent])));

const items = (page, side) =>
  page.$$eval(`[data-side=${side}] .item`, (found) =>
    found.map((each) => ({ kind: each.classList[1], mark: each.dataset.mark, text: each.textContent })));

const marked = async (page, side, mark) => (await items(page, side)).filter((item) => item.mark === mark);

async function findings(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(" ")}`);
}

async function run(page, graph) {
  await page.selectOption("#graph", graph);
  await page.waitForFunction(() => !document.querySelector("#as-json").checked);
  await page.click("#run");
}

const page = await opened();

await step("explains itself before the first run", async () => {
  const told = await page.textContent("#empty");
  assert.match(told, /Press Run, and you see one graph answer, live/);
  assert.match(told, /Both streams are counted alike/);
  assert.match(await page.textContent(".title"), /a client of\s+langgraph-once is sent, which announces itself/);
  assert.doesNotMatch(told, /left|right/); // a phone has neither
  assert.ok(await page.isHidden("[data-side=once]")); // it has nothing to show
  assert.ok(await page.isHidden("#account")); // this server asks nobody who they are
  assert.deepEqual(await findings(page), []);
});

await step("says before a run how often the graph and its tools will act", async () => {
  const told = () => page.textContent("#runs-about");
  assert.match(await told(), /runs twice, once for each side.*its tools act twice/);
  await page.check("#one-run");
  assert.match(await told(), /runs once.*both sides are shown from that recording/);
  await page.uncheck("#one-run");
});

await step("shows both streams, and counts what is wrong with one", async () => {
  await run(page, "desk");
  await said(page, "waits for your answer");
  const stock = await counts(page, "stock");
  const once = await counts(page, "once");
  assert.deepEqual([stock.repeated, stock.missing], ["1", "1"]);
  assert.deepEqual([once.repeated, once.missing, once.retracted], ["0", "0", "1"]);
  assert.deepEqual([stock.not_kept, once.not_kept], ["0", "0"]);
  for (const side of [stock, once]) assert.notEqual(side.bytes, "0 B");
  assert.equal(stock.wire_bytes, stock.bytes); // LangGraph compresses nothing
  assert.notEqual(once.wire_bytes, once.bytes);
  assert.match((await marked(page, "stock", "repeated"))[0].text, /repeated.*I look it up, then I ask you/);
  assert.match((await marked(page, "stock", "missing"))[0].text, /missing.*The desk hands over/);
  assert.match((await marked(page, "once", "retracted"))[0].text, /I look it up, then I ask you/);
});

await step("asks what fits a graph as soon as it is chosen", async () => {
  const slow = await opened();
  await slow.route("**/schemas", () => {}); // which is never answered
  await slow.selectOption("#graph", "slow");
  await slow.selectOption("#graph", "desk");
  assert.equal(await slow.inputValue("#input"), "May it be shown?");
  await slow.context().close();
});

await step("asks what fits the graph, and shows it first", async () => {
  assert.equal(await page.inputValue("#input"), "May it be shown?");
  assert.equal(await page.textContent("#graph-about"), "Everything that the page shows.");
  for (const side of ["stock", "once"]) assert.match((await items(page, side))[0].text, /human.*May it be shown/);
});

await step("shows calls with their arguments, artifacts, states, lanes", async () => {
  for (const side of ["stock", "once"]) {
    const found = await items(page, side);
    const call = found.filter((item) => item.kind === "tool_call" && /success/.test(item.text));
    assert.match(call[0].text, /success.*look_up\{"topic": "streams"\}.*There is much on streams/);
    const kinds = new Set(found.map((item) => item.kind));
    for (const kind of ["message", "artifact", "state", "custom", "interrupt"]) assert.ok(kinds.has(kind), kind);
    assert.ok(found.some((item) => item.text.startsWith("handing")));
  }
});

await step("answers an interrupt on both sides", async () => {
  assert.match(await page.textContent("#question"), /May it be done/);
  const other = await opened({ address: page.url() });
  await said(other, "waits for your answer");
  assert.equal(await page.textContent("[data-side=once] [data-status]"), "waits for an answer");
  await page.click("#choices button:has-text('approve')");
  assert.equal(await page.textContent("#status"), "Running …");
  for (const side of ["stock", "once"]) {
    assert.equal(await page.textContent(`[data-side=${side}] [data-status]`), "running");
  }
  await said(page, "Done.");
  await other.click("#choices button:has-text('reject')");
  await said(other, "Done.");
  assert.match(await other.textContent("#problem"), /answered already/);
  assert.deepEqual(await items(other, "once"), await items(page, "once"));
  assert.equal(other.url(), page.url());
  await other.context().close();
  await said(page, "Done.");
  for (const side of ["stock", "once"]) {
    assert.match((await items(page, side)).at(-2).text, /All is done, as you said: approve/);
    assert.equal(await page.textContent(`[data-side=${side}] [data-status]`), "finished");
  }
  assert.ok(await page.isHidden("#answer"));
});

await step("has no finding of axe after a run, in light and dark", async () => {
  assert.deepEqual(await findings(page), []);
  await page.click("#theme");
  await page.click("#theme");
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  assert.deepEqual(await findings(page), []);
});

await step("goes back over what came", async () => {
  const all = (await items(page, "once")).length;
  await page.focus("#cursor");
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.querySelectorAll(".item").length === 0);
  await page.$eval("#cursor", (cursor) => {
    cursor.value = Math.round(cursor.max / 2);
    cursor.dispatchEvent(new Event("input"));
  });
  const half = (await items(page, "once")).length;
  assert.ok(half > 0 && half < all, `${half} of ${all}`);
  await page.click("#live");
  assert.equal((await items(page, "once")).length, all);
});

await step("shows the same after a reload", async () => {
  const before = [await items(page, "stock"), await items(page, "once"), await counts(page, "once")];
  await page.reload();
  await said(page, "Done.");
  assert.deepEqual([await items(page, "stock"), await items(page, "once"), await counts(page, "once")], before);
});

await longStep("shows both sides of one run, whose graph runs once", async () => {
  const one = await opened();
  await one.check("#one-run");
  await run(one, "desk");
  await said(one, "waits for your answer");
  const [stock, once] = [await counts(one, "stock"), await counts(one, "once")];
  assert.deepEqual([stock.repeated, stock.missing, stock.bytes], ["1", "1", undefined]);
  assert.deepEqual([once.repeated, once.missing, once.retracted, once.bytes], ["0", "0", "1", undefined]);
  await one.click("#choices button:has-text('approve')");
  await said(one, "Done.");
  for (const side of ["stock", "once"]) {
    assert.match((await items(one, side)).at(-2).text, /All is done, as you said: approve/);
  }
  const named = new URLSearchParams(new URL(one.url()).hash.slice(1));
  assert.equal(named.get("stock"), named.get("once"));
  const [thread, ...runs] = named.get("once").split(",");
  const has = await one.evaluate(async (id) => (await fetch(`threads/${id}/runs`)).json(), thread);
  assert.deepEqual(has.map(({ run_id }) => run_id).reverse(), runs); // the run, and that of the answer
  const before = [await items(one, "stock"), await items(one, "once")];
  await one.reload();
  await said(one, "Done.");
  assert.ok(await one.isChecked("#one-run"));
  assert.deepEqual([await items(one, "stock"), await items(one, "once")], before);
  assert.deepEqual(await findings(one), []);
  await one.context().close();
});

await longStep("goes on after a reload in the middle of a run", async () => {
  await run(page, "slow");
  await page.waitForFunction(() => /word5/.test(document.querySelector("[data-side=once] .items").textContent));
  await page.reload();
  await page.waitForFunction(() => /word7 /.test(document.querySelector("[data-side=once] .items").textContent));
  await said(page, "Done.");
  for (const side of ["stock", "once"]) {
    const words = (await items(page, side)).find((item) => /word0/.test(item.text)).text.match(/word\d+/g);
    assert.deepEqual(words, Array.from({ length: 80 }, (_, n) => `word${n}`));
  }
  assert.equal((await counts(page, "stock")).repeated, "0");
});

await longStep("can be stopped", async () => {
  await run(page, "slow");
  await page.waitForFunction(() => /word2/.test(document.querySelector("[data-side=stock] .items").textContent));
  await page.click("#stop");
  await page.waitForSelector("#stop", { state: "hidden" });
  assert.ok(!(await page.textContent("[data-side=stock] .items")).includes("word79"));
});

await step("needs nothing but a keyboard", async () => {
  const keys = await opened({ theme: "dark" });
  for (let tabs = 0; tabs < 20 && !(await keys.$eval("#input", (it) => it === document.activeElement)); tabs++) {
    await keys.keyboard.press("Tab");
  }
  await keys.selectOption("#graph", "desk");
  await keys.keyboard.press("Control+A");
  await keys.keyboard.type("Go on.");
  await keys.keyboard.press("Enter");
  await said(keys, "waits for your answer");
  await keys.waitForFunction(() => document.activeElement.id === "answer-text");
  await keys.keyboard.type("yes");
  await keys.keyboard.press("Enter");
  await said(keys, "Done.");
  assert.match(await keys.textContent("[data-side=once] .items"), /as you said: yes/);
  await keys.context().close();
});

await longStep("fits a phone", async () => {
  const phone = await opened({ width: 390, height: 844 });
  await run(phone, "desk");
  await said(phone, "waits for your answer");
  const fits = async () => {
    const wide = await phone.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `${wide} px`);
  };
  await fits();
  assert.ok(await phone.isHidden("[data-side=stock]"));
  await phone.click("[data-show=stock]");
  assert.ok(await phone.isVisible("[data-side=stock]"));
  assert.deepEqual(await findings(phone), []);
  await phone.click("#choices button:has-text('approve')");
  await said(phone, "Done.");
  assert.ok(await phone.isVisible("#more"));
  await fits();
  await phone.context().close();
});

await step("says what is wrong with an input", async () => {
  await page.check("#as-json");
  await page.fill("#input", "{");
  await page.click("#run");
  assert.match(await page.textContent("#problem"), /no JSON/);
});

await step("offers to sign in where the server asks for it", async () => {
  const stranger = await (await browser.newContext()).newPage();
  await stranger.route("**/assistants/search", (route) => route.fulfill({ status: 401, body: "{}" }));
  await stranger.goto(`${url}/once`);
  await stranger.waitForSelector("#header-value");
  assert.ok(await stranger.isVisible("#header-value"));
  await stranger.context().close();
});

await step("is silent on the console, and asks nobody else", () => assert.deepEqual(noise, []));

await browser.close();
process.stdout.write(JSON.stringify(results));
