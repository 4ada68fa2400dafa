// Runs questions, each in a worker of its own that ends with it, so that whatever a run does it
// cannot stop the page.

// After this a run is stopped: it would go on unseen in a forgotten window.
const LIMIT_S = 900;

// The module is in the page, packed; it is compiled once.
let moduleOnce = null;
let workerUrl = null;

class Runner {
  compiled() {
    moduleOnce ??= (async () => {
      if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function") {
        throw new Error("this browser is too old for the playground: it lacks WebAssembly or "
          + "DecompressionStream; expected one of 2023 or later");
      }
      const text = document.getElementById("module").textContent.trim();
      const packed = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
      const bytes = await through(new DecompressionStream("gzip"), packed, 1 << 26);
      return WebAssembly.compile(bytes);
    })();
    return moduleOnce;
  }

  url() {
    if (!workerUrl) {
      const source = document.getElementById("worker").textContent;
      workerUrl = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    }
    return workerUrl;
  }

  // Asks, and stops whatever was asked before. The answer is `{ok}`, `{error}` or `{cancelled}`.
  async ask(question, files, progress = () => {}) {
    this.cancel();
    const turn = {};
    this.turn = turn;
    let module;
    try {
      module = await this.compiled();
    } catch (error) {
      moduleOnce = null;
      return { error: `the simulator could not be loaded: ${error.message}` };
    }
    if (this.turn !== turn) return { cancelled: true };
    return new Promise((resolve) => {
      const worker = new Worker(this.url());
      const limit = Number(document.body.dataset.limitS || LIMIT_S);
      const timer = setTimeout(() => {
        this.end({ error: `the run was stopped after ${limit} s; expected a shorter simulated `
          + "time, fewer seeds or fewer policies, or the command line, which has no limit" });
      }, limit * 1000);
      this.end = (answer) => {
        clearTimeout(timer);
        worker.terminate();
        this.end = null;
        resolve(answer);
      };
      worker.onmessage = ({ data }) => {
        if (data.progress) progress(...data.progress);
        else this.end?.(data);
      };
      worker.onerror = (event) => {
        event.preventDefault();
        this.end?.({ error: `the simulator stopped: ${event.message || "its worker ended"}` });
      };
      worker.onmessageerror = () => this.end?.({ error: "the simulator's answer cannot be read" });
      worker.postMessage({ module, files: [...files], question });
    });
  }

  cancel() {
    this.turn = null;
    this.end?.({ cancelled: true });
  }
}
