// One worker per question: it has the module to itself, and ends with it. Messages to it: the
// compiled module, files by name, and the question. From it: progress, then the answer, or a
// sentence about what went wrong.
"use strict";

const MEBIBYTE = 1 << 20;

// Texts and files go into rooms of the module's memory, answers come out of it.
class Door {
  constructor(exports) {
    this.exports = exports;
    exports.start();
  }

  put(bytes) {
    const at = this.exports.room(bytes.length);
    if (at === 0 && bytes.length > 0) {
      const size = Math.ceil(bytes.length / MEBIBYTE);
      throw new Error(`${size} MiB are more than this page can hold; expected at most 256 MiB`);
    }
    new Uint8Array(this.exports.memory.buffer).set(bytes, at);
    return [at, bytes.length];
  }

  text(text) {
    return this.put(new TextEncoder().encode(text));
  }

  got(address) {
    const at = address >>> 0;
    const { buffer } = this.exports.memory;
    const length = new DataView(buffer).getUint32(at, true);
    return new TextDecoder().decode(new Uint8Array(buffer, at + 4, length));
  }

  ask(question, files) {
    for (const [name, bytes] of files) this.exports.file(...this.text(name), ...this.put(bytes));
    return JSON.parse(this.got(this.exports.ask(...this.text(JSON.stringify(question)))));
  }

  // Why a call ended in a trap.
  trapped(error) {
    if (this.exports.exhausted() === 1) {
      const size = Math.round(this.exports.memory.buffer.byteLength / MEBIBYTE);
      return `the run needs more memory than this page gives it (${size} MiB are in use); `
        + "expected a shorter run, fewer seeds or a shorter timeline, or the command line";
    }
    const words = this.got(this.exports.last_words());
    if (words) return `the simulator stopped: ${words}`;
    return `the simulator stopped without a word (${error.message})`;
  }
}

async function answer(module, files, question, progress) {
  let door = null;
  try {
    const imports = { page: { progress } };
    door = new Door((await WebAssembly.instantiate(module, imports)).exports);
    return door.ask(question, files);
  } catch (error) {
    const trap = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    try {
      return { error: trap && door ? door.trapped(error) : error.message };
    } catch {
      // Not even its last words can be had: the memory is full.
      return { error: `the simulator stopped: ${error.message}` };
    }
  }
}

if (typeof WorkerGlobalScope !== "undefined") {
  self.onmessage = async ({ data }) => {
    const progress = (done, total) => self.postMessage({ progress: [done, total] });
    self.postMessage(await answer(data.module, data.files, data.question, progress));
  };
}
