// Whether the module for browsers gives the bytes of the program, and takes whatever it is given:
//   node scripts/playground/equal.mjs MODULE PROGRAM [all]
// Without `all`: a few runs of every kind. The module runs here as in the page's worker.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import vm from "node:vm";

const [, , modulePath, program, how] = process.argv;
const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname));
const worker = fs.readFileSync(path.join(root, "../../site/playground/worker.js"), "utf8");
const context = vm.createContext({ WebAssembly, TextEncoder, TextDecoder, Uint8Array, DataView,
  RangeError });
vm.runInContext(`${worker}\nglobalThis.answer = answer;`, context);
const module = await WebAssembly.compile(fs.readFileSync(modulePath));

const imports = WebAssembly.Module.imports(module).map((one) => `${one.module}.${one.name}`);
let failed = 0;
function check(what, holds, more = "") {
  if (holds) return;
  failed += 1;
  console.error(`NOT as it must be: ${what} ${more}`);
}
check("the module imports progress only", imports.join() === "page.progress", imports.join());

const ask = (question, files = []) => context.answer(module, files, question, () => {});
const names = (await ask({ names: {} })).ok;
// Results name the commit of their program: those of two commits differ in it.
const version = execFileSync(program, ["--version"]).toString();
if (!version.includes(names.commit)) {
  console.error(`equal: the module is of commit ${names.commit}, and ${program} says: `
    + `${version.trim().replaceAll("\n", ", ")}; expected both of one commit: build them again`);
  process.exit(2);
}
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "wakeplace-equal-"));
process.on("exit", () => fs.rmSync(scratch, { recursive: true, force: true }));

// The program's own words, in a folder that has the files: its bytes, and its time.
function native(command) {
  const begin = performance.now();
  const text = execFileSync("sh", ["-c", `${command.replace(/^wakeplace/, '"$0"')} --format json`,
    path.resolve(program)],
  { cwd: scratch, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
  return [text.toString(), performance.now() - begin];
}

let runs = 0;
const times = [0, 0];
async function same(question, files = {}) {
  for (const [name, text] of Object.entries(files)) {
    fs.writeFileSync(path.join(scratch, name), text);
  }
  const given = Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]);
  const what = JSON.stringify(question).slice(0, 160);
  const begin = performance.now();
  const { ok, error } = await ask(question, given);
  times[0] += performance.now() - begin;
  if (error) { check(what, false, error); return; }
  const [theirs, ms] = native(ok.command);
  times[1] += ms;
  runs += 1;
  check(`the bytes of ${ok.command}`, ok.json === theirs);
}

const run = (more) => ({ run: { ask: { platform: ["hikey960"], workload: ["periodic:n=4,duty=8%"],
  policy: ["linux-7.3", "wakeplace"], seeds: "2", duration: "200ms", ...more } } });
const everything = how === "all";
const boards = names.platforms.map((one) => one.name);
const some = everything ? boards : ["hikey960", "pixel6", "snb-ep-2s"];
for (const platform of some.filter((name) => boards.includes(name))) {
  await same(run({ platform: [platform], timeline: "0s..50ms",
    policy: ["linux-7.3", "linux-4.17+energy-aware", "wakeplace:mode=powersave"] }));
}
const models = names.models.map((one) => one.name).filter((name) => name !== "shell");
for (const name of everything ? models : models.slice(0, 3)) {
  await same(run({ workload: [name] }));
}
const rtapp = '{"tasks": {"a": {"instance": 3, "loop": -1, "run": 900, "timer": '
  + '{"ref": "t", "period": 16000}}}, "global": {"duration": 1}}';
await same(run({ workload: ["mine.json"] }), { "mine.json": rtapp });
await same(run({ workload: ["mine.json"], jitter: "start=5ms,run=5%" }), { "mine.json": rtapp });
const toml = fs.readFileSync(path.join(root, "../../platforms/juno-r0.toml"));
await same(run({ platform: ["board.toml"] }), { "board.toml": toml });

// A recording: the program's own trace of a run.
execFileSync(program, ["sim", "--platform", "hikey960", "--workload", "periodic:n=4,duty=8%",
  "--policy", "linux-7.3", "--duration", "300ms", "--export-ftrace", path.join(scratch, "r.txt"),
  "--export-perfetto", path.join(scratch, "r.pftrace")], { stdio: "ignore" });
for (const name of ["r.txt", "r.pftrace"]) {
  const bytes = fs.readFileSync(path.join(scratch, name));
  await same(run({ workload: [`trace:${name}`] }), { [name]: bytes });
}
const single = { ...run({ policy: ["wakeplace"] }).run.ask };
delete single.seeds;
await same({ explain: { ask: { ...single, wakeup: 12, why_not: 7 } } });
await same({ explain: { ask: { ...single, seed: 3, at: "60ms" } } });

// What cannot be run is said in a sentence.
const deep = "[".repeat(200000);
const hostile = [
  ["a number of tasks beyond all memory", run({ workload: ["periodic:n=4000000000"] })],
  ["an unknown platform", run({ platform: ["hikey690"] })],
  ["a file that is not there", run({ workload: ["there/is/none.json"] })],
  ["a deep file", run({ workload: ["deep.json"] }), { "deep.json": deep }],
  ["a deep platform", run({ platform: ["deep.toml"] }), { "deep.toml": `a = ${deep}` }],
  ["no UTF-8", run({ workload: ["bad.json"] }), { "bad.json": "\xff\xfe\x00" }],
  ["zeros", run({ workload: ["trace:zero"] }), { zero: new Uint8Array(1 << 20) }],
  ["an empty file", run({ platform: ["empty.toml"] }), { "empty.toml": "" }],
  ["20 MB of an rt-app file", run({ workload: ["big.json"] }),
    { "big.json": " ".repeat(20 << 20) }],
  ["no capture", { import: { file: "x.tar" } }, { "x.tar": "no tar archive" }],
  ["no device tree", { import: { file: "x.dtb" } },
    { "x.dtb": Buffer.from([0xd0, 0x0d, 0xfe, 0xed]) }],
  ["no question", { dance: {} }],
  ["more keys than there are", { run: { ask: { platfrom: [] } } }],
  ["seeds beyond all bounds", run({ seeds: "1..18446744073709551615" })],
  ["a run beyond the module's memory", run({ seeds: "100", duration: "1ms",
    workload: ["periodic:n=100000,period=16ms,duty=1%"] })],
];
for (const [what, question, files = {}] of hostile) {
  const given = Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]);
  const { error } = await ask(question, given);
  check(`${what}: a sentence`, typeof error === "string" && error.length > 10, String(error));
  if (everything) console.log(`${what}: ${String(error).slice(0, 200)}`);
}
const ratio = (times[0] / times[1]).toFixed(2);
console.log(`equal: ${runs} results have the program's bytes, ${hostile.length} hostile questions `
  + `have a sentence (the module took ${ratio} times the program's time)`);
process.exitCode = failed ? 1 : 0;
