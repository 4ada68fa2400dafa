// Tries the playground in a browser, from a disk and from a static host:
//   node scripts/playground/drive.mjs PAGE PROGRAM [FOLDER]
// FOLDER: pictures go there, and how long things took is said. PLAYGROUND_QUICK=1: neither hostile
// files nor runs without end. Exit code 3: no browser here.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { Browser, wait } from "./browser.mjs";
import { LOOK } from "./look.mjs";

const [, , pagePath, program, pictures] = process.argv;
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "wakeplace-drive-"));
process.on("exit", () => fs.rmSync(scratch, { recursive: true, force: true }));
if (pictures) fs.mkdirSync(pictures, { recursive: true });

let failed = 0;
let held = 0;
function check(what, holds, more = "") {
  if (holds) { held += 1; return; }
  failed += 1;
  console.error(`NOT as it must be: ${what}${more === "" ? "" : `: ${more}`}`);
}

const browser = await Browser.open();
if (!browser) {
  console.error("**** SKIPPED: no browser here (apt-get install chromium): nothing was tried");
  process.exit(3);
}

const HASHES = `[...document.querySelectorAll("#result td")].map((one) => one.textContent.trim())
  .filter((text) => /^[0-9a-f]{16}$/.test(text))`;
const SHOWN = "!document.getElementById('repeat').hidden && "
  + "!document.getElementById('run').disabled";
const text = (page, id) => page.is(`document.getElementById("${id}").textContent.trim()`);
const press = (page, id) => page.is(`document.getElementById("${id}").click()`);
const set = (page, id, value) => page.is(`(() => {
  const one = document.getElementById(${JSON.stringify(id)});
  one.value = ${JSON.stringify(value)};
  one.dispatchEvent(new Event("input", { bubbles: true }));
})()`);

// The program's hashes for the command that the page gives.
function native(command) {
  const own = path.resolve(program);
  const line = `${command.replace(/^wakeplace/, '"$0"')} --format json`;
  const result = execFileSync("sh", ["-c", line, own], { cwd: scratch, maxBuffer: 1 << 28 });
  return JSON.parse(result).runs.flatMap((run) => run.event_hashes);
}

async function sameAsNative(page, what) {
  const hashes = await page.is(HASHES);
  const theirs = native(await text(page, "command"));
  check(`${what}: hashes`, hashes.length > 0 && hashes.join() === theirs.join(),
    `${hashes} against ${theirs}`);
}

async function opened(address) {
  const page = await browser.page(address);
  await page.until("document.readyState === 'complete' && document.querySelector('#policies li')");
  return page;
}

// Runs what is in the form and waits for the result or a sentence.
async function ran(page, seconds = 120) {
  await page.is("document.getElementById('repeat').hidden = true");
  await press(page, "run");
  return page.until(`(${SHOWN}) || !document.getElementById("error").hidden`, seconds);
}

async function refused(page, what, part = "") {
  const said = await text(page, "error");
  check(`${what}: a sentence`, said.length > 15 && said.includes(part), said || "nothing was said");
  if (pictures) console.log(`  ${what}: ${said.slice(0, 160)}`);
}

// What is below the window is drawn when it comes near.
async function scrolled(page) {
  await page.is(`(async () => {
    for (let at = 0; at < document.body.scrollHeight; at += 700) {
      scrollTo(0, at);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    scrollTo(0, 0);
  })()`);
  await wait(800);
}

async function looks(page, name, width, dark) {
  await page.size(width, 900, dark);
  await wait(300);
  await scrolled(page);
  // Charts are drawn anew for a window's width, later on a busy machine. Faults are what stays.
  let faults = await page.is(LOOK);
  for (let left = 40; faults.length && left > 0; left -= 1) {
    await wait(250);
    faults = await page.is(LOOK);
  }
  for (const fault of faults) {
    check(`${name} at ${width} px ${dark ? "dark" : "light"}`, false, fault);
  }
  if (pictures) {
    const file = `${name}-${width}-${dark ? "dark" : "light"}`;
    await page.picture(path.join(pictures, file));
  }
}

async function fromADisk() {
  const page = await opened(pathToFileURL(path.resolve(pagePath)).href);
  await page.size(1280, 900, false);
  if (pictures) await looks(page, "empty", 1280, false);
  const begin = Date.now();
  check("a run ends", await ran(page), await text(page, "status"));
  if (pictures) console.log(`  first run: ${((Date.now() - begin) / 1000).toFixed(1)} s`);
  await sameAsNative(page, "from a disk");
  await decisions(page);
  await looks(page, "run", 1280, false);
  await looks(page, "run", 390, true);
  if (pictures) { await looks(page, "run", 1280, true); await looks(page, "run", 390, false); }
  const loaded = page.loaded.filter((url) => !/^(file|blob|data):/.test(url));
  check("nothing is loaded", loaded.length === 0, loaded.join());
  check("the console is silent", page.said.length === 0, page.said.join(" | "));
  return page;
}

// A placement by mouse, another by keyboard, and why not another CPU.
async function decisions(page) {
  const explained = () => page.until("document.querySelector('#decision-result h3') || "
    + "!document.getElementById('decision-error').hidden");
  const again = "document.getElementById('decision-result').replaceChildren()";
  await scrolled(page);
  // Somewhere along the rows is a stretch of a task. What is above may still grow.
  const place = () => page.is(`(() => {
    const over = document.querySelector(".line .u-over");
    over.scrollIntoView({ block: "center" });
    const { left, top, width, height } = over.getBoundingClientRect();
    return { left, top, width, height };
  })()`);
  search: for (let row = 0; row < 8; row += 1) {
    for (const share of [0.2, 0.35, 0.5, 0.65, 0.8]) {
      const box = await place();
      await page.click(box.left + box.width * share, box.top + box.height * (row + 0.5) / 8);
      if (await page.is("document.getElementById('decision-at').value !== ''")) break search;
    }
  }
  await explained();
  const title = await page.is("document.querySelector('#decision-result h3')?.textContent ?? ''");
  check("a click explains", / of .* at .*: CPU \d+/.test(title), title);
  await page.is(again);
  await page.is("document.querySelector('.line').focus()");
  await page.key(".");
  await page.key(".");
  await page.key("Enter");
  await explained();
  check("keys explain", await page.is("document.querySelector('#decision-result h3') !== null"),
    await text(page, "decision-error"));
  const line = await text(page, "decision-command");
  const own = execFileSync("sh", ["-c", line.replace(/^wakeplace/, '"$0"'), path.resolve(program)]);
  const first = /CPU \d+/.exec(own.toString())?.[0];
  check("the program explains it alike",
    (await text(page, "decision-result")).includes(first), `${line}: ${first}`);
  await page.is(again);
  await set(page, "decision-why-not", "7");
  await page.is("document.getElementById('decision-form').requestSubmit()");
  await explained();
  check("why not", (await text(page, "decision-result")).includes("CPU 7 was "));
}

async function links(page) {
  const link = await text(page, "link");
  const other = await opened(link);
  check("a link brings the question", await page.is("document.getElementById('workload').value")
    === await other.is("document.getElementById('workload').value"));
  await ran(other);
  check("... and the result", (await page.is(HASHES)).join() === (await other.is(HASHES)).join());
  const nonsense = ["#!!", "#platform=a", "#platfrom=hikey960", `#${"x".repeat(90000)}`,
    "#%ff%fe", "#platform=a&platform=b&workload=c&policy=d",
    "#platform=hikey960&workload=a.json&policy=linux-7.3&file=a.json!AAAA",
    "#platform=a&workload=w", "#platform=a&workload=w&policy=b&task=x"];
  for (const one of nonsense) {
    await other.is(`document.getElementById("error").hidden = true; location.hash =
      ${JSON.stringify(one)}`);
    await other.until("!document.getElementById('error').hidden", 5);
    await refused(other, `a link ${one.slice(0, 40)}`, "the link: ");
  }
  // Markup in a question is text, in the form and in the words that refuse it.
  await other.is(`document.getElementById("error").hidden = true;
    location.hash = "#platform=<img src=x onerror=alert(1)>&workload=<b>w&policy=<b>x"`);
  await other.until("document.getElementById('workload').value === '<b>w'", 5);
  await other.is("document.getElementById('run').click()");
  await other.until("!document.getElementById('error').hidden", 30);
  check("markup in a link stays text",
    await other.is("document.querySelectorAll('main img, main b').length") === 0);
  await other.close();
}

async function hostileFiles(page) {
  const files = [
    ["deep.json", "[".repeat(300000), "workload-file"],
    ["bad.json", Buffer.from([0x7b, 0xff, 0xfe]), "workload-file"],
    ["zeros.txt", Buffer.alloc(1 << 20), "workload-file"],
    ["none.toml", "name = ", "platform-file"],
    ["none.tar", Buffer.alloc(4096), "platform-file"],
    ["none.dtb", Buffer.from([0xd0, 0x0d, 0xfe, 0xed, 0xff, 0xff, 0xff, 0xff]), "platform-file"],
  ];
  for (const [name, content, input] of files) {
    await page.reload();
    await page.until("document.querySelector('#policies li')");
    const file = path.join(scratch, name);
    fs.writeFileSync(file, content);
    await page.give(`#${input}`, file);
    await page.until("!document.querySelector('[aria-busy]')");
    if (await page.is("document.getElementById('error').hidden")) await ran(page);
    await refused(page, name);
  }
  const large = path.join(scratch, "large.json");
  fs.closeSync(fs.openSync(large, "w"));
  fs.truncateSync(large, 200 << 20);
  await page.give("#workload-file", large);
  await wait(500);
  await refused(page, "a file of 200 MiB", "at most 128 MiB");
}

async function endless(page) {
  await page.reload();
  await page.until("document.querySelector('#policies li')");
  await set(page, "duration", "1000000s");
  await press(page, "run");
  await wait(2500);
  check("a long run can be cancelled", await page.is("!document.getElementById('cancel').hidden"));
  await press(page, "cancel");
  check("... and the page goes on",
    await page.until("!document.getElementById('run').disabled", 5));
  await page.is("document.body.dataset.limitS = '2'");
  await ran(page, 30);
  await refused(page, "a run that never ends", "was stopped after 2 s");
  await page.is("delete document.body.dataset.limitS");
  await set(page, "workload", "periodic:n=100000,period=16ms,duty=1%");
  await set(page, "duration", "1ms");
  await set(page, "seeds", "100");
  await set(page, "timeline", "");
  await ran(page, 240);
  await refused(page, "memory exhausted", "more memory");
  await set(page, "workload", "periodic:n=4");
  await set(page, "duration", "100ms");
  await set(page, "seeds", "2");
  await ran(page);
  await sameAsNative(page, "after all that");
}

// Markup that somebody got into the page runs nothing: the page's policy lets its own scripts run,
// by their hashes, and nothing be loaded.
async function smuggled() {
  const page = await opened(pathToFileURL(path.resolve(pagePath)).href);
  await page.is(`(() => {
    const place = document.getElementById("result");
    place.insertAdjacentHTML("beforeend", \`<img src="data:," onerror="window.smuggled1 = 1">
      <a id="smuggled" href="javascript:void(window.smuggled2 = 1)">x</a>\`);
    const script = document.createElement("script");
    script.textContent = "window.smuggled3 = 1";
    place.append(script);
    const worker = new Blob(["postMessage(1)"], { type: "text/javascript" });
    const other = document.createElement("script");
    other.src = URL.createObjectURL(worker);
    other.onload = () => { window.smuggled4 = 1; };
    place.append(other);
    document.getElementById("smuggled").click();
  })()`);
  await wait(1000);
  const ran = await page.is("Object.keys(window).filter((name) => name.startsWith('smuggled'))");
  check("nothing smuggled runs", ran.filter((name) => name !== "smuggled").length === 0,
    ran.join());
  const refusals = page.said.filter((text) => text.includes("Content Security Policy directive"));
  check("... and the browser says why", refusals.length === 4, page.said.join(" | "));
  await page.close();
}

async function fromAHost() {
  const server = http.createServer((request, response) => {
    const found = request.url === "/playground/";
    response.writeHead(found ? 200 : 404, { "content-type": "text/html; charset=utf-8" });
    response.end(found ? fs.readFileSync(pagePath) : "");
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  const address = `http://127.0.0.1:${server.address().port}/playground/`;
  const page = await opened(address);
  await page.size(390, 844, true);
  check("a run from a host ends", await ran(page));
  await sameAsNative(page, "from a host");
  const loaded = page.loaded.filter((url) => url !== address && !/^(blob|data):/.test(url));
  check("nothing else is loaded", loaded.length === 0, loaded.join());
  check("the console is silent", page.said.length === 0, page.said.join(" | "));
  await page.close();
  server.close();
}

try {
  const page = await fromADisk();
  await fromAHost();
  await links(page);
  await smuggled();
  if (!process.env.PLAYGROUND_QUICK) {
    await hostileFiles(page);
    await endless(page);
  }
} catch (error) {
  check("the drive itself", false, error.stack);
}
await browser.close();
console.log(`playground: ${held} checks hold, ${failed} do not`);
process.exit(failed ? 1 : 0);
