// A headless browser, driven over its own pipe (DevTools protocol): no package, no port.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];

function program() {
  const folders = (process.env.PATH ?? "").split(":");
  const all = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return all.find((file) => fs.existsSync(file));
}

export const wait = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

export class Browser {
  static async open() {
    const found = program();
    if (!found) return null;
    const browser = new Browser();
    browser.profile = fs.mkdtempSync(path.join(os.tmpdir(), "wakeplace-browser-"));
    browser.child = spawn(found, ["--headless=new", "--no-sandbox", "--disable-gpu",
      "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--hide-scrollbars", `--user-data-dir=${browser.profile}`,
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    browser.waiting = new Map();
    browser.pages = new Map();
    browser.last = 0;
    let rest = "";
    browser.child.stdio[4].setEncoding("utf8");
    browser.child.stdio[4].on("data", (text) => {
      const parts = (rest + text).split("\0");
      rest = parts.pop();
      parts.forEach((part) => browser.heard(JSON.parse(part)));
    });
    return browser;
  }

  send(method, params = {}, sessionId = undefined) {
    this.last += 1;
    const id = this.last;
    this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => { this.waiting.set(id, { resolve, reject, method }); });
  }

  heard(message) {
    const { id, method, params, sessionId, result, error } = message;
    if (id) {
      const waiting = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) waiting.reject(new Error(`${waiting.method}: ${error.message}`));
      else waiting.resolve(result);
    } else this.pages.get(sessionId)?.heard(method, params);
  }

  async page(address) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.pages.set(sessionId, page);
    for (const domain of ["Page", "Runtime", "Network", "Log", "DOM"]) {
      await page.send(`${domain}.enable`);
    }
    await page.send("Page.navigate", { url: address });
    return page;
  }

  async close() {
    await this.send("Browser.close").catch(() => {});
    await new Promise((resolve) => { this.child.on("exit", resolve); setTimeout(resolve, 5000); });
    this.child.kill("SIGKILL");
    fs.rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

class Page {
  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target, said: [], loaded: [] });
  }

  send(method, params = {}) {
    return this.browser.send(method, params, this.session);
  }

  heard(method, params) {
    if (method === "Runtime.consoleAPICalled" && params.type !== "log") {
      this.said.push(params.args.map((one) => one.value ?? one.description).join(" "));
    }
    if (method === "Runtime.exceptionThrown") {
      this.said.push(params.exceptionDetails.exception?.description ?? "an exception");
    }
    if (method === "Log.entryAdded") this.said.push(params.entry.text);
    if (method === "Network.requestWillBeSent") this.loaded.push(params.request.url);
  }

  // The value of an expression in the page; promises are waited for.
  async is(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? expression);
    return result.value;
  }

  // Waits until an expression is true. A page that is just being loaded has no answer.
  async until(expression, seconds = 60) {
    for (let left = seconds * 10; left > 0; left -= 1) {
      if (await this.is(`Boolean(${expression})`).catch(() => false)) return true;
      await wait(100);
    }
    return false;
  }

  async reload() {
    await this.is("window.before = true");
    await this.send("Page.reload");
    await this.until("!window.before && document.readyState === 'complete'");
  }

  async size(width, height, dark) {
    await this.send("Emulation.setDeviceMetricsOverride",
      { width, height, deviceScaleFactor: 1, mobile: width < 700 });
    const features = [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" },
      { name: "prefers-reduced-motion", value: "reduce" }];
    await this.send("Emulation.setEmulatedMedia", { features });
  }

  async key(key, text = "") {
    const code = { Enter: 13, Tab: 9 }[key] ?? key.charCodeAt(0);
    const shared = { key, windowsVirtualKeyCode: code };
    const typed = text || (key === "Enter" ? "\r" : key.length === 1 ? key : "");
    await this.send("Input.dispatchKeyEvent", { ...shared, type: "keyDown",
      ...(typed && { text: typed }) });
    await this.send("Input.dispatchKeyEvent", { ...shared, type: "keyUp" });
  }

  async click(x, y) {
    const shared = { x, y, button: "left", clickCount: 1 };
    await this.send("Input.dispatchMouseEvent", { ...shared, type: "mouseMoved", button: "none" });
    await this.send("Input.dispatchMouseEvent", { ...shared, type: "mousePressed" });
    await this.send("Input.dispatchMouseEvent", { ...shared, type: "mouseReleased" });
  }

  async give(selector, file) {
    const { root } = await this.send("DOM.getDocument");
    const { nodeId } = await this.send("DOM.querySelector", { nodeId: root.nodeId, selector });
    await this.send("DOM.setFileInputFiles", { nodeId, files: [file] });
  }

  // The whole page in pieces that can be looked at: NAME-1.png and so on.
  async picture(name) {
    const { cssContentSize: all } = await this.send("Page.getLayoutMetrics");
    const step = 2200;
    for (let y = 0, piece = 1; y < all.height; y += step, piece += 1) {
      const height = Math.min(step, Math.ceil(all.height) - y);
      const clip = { x: 0, y, width: Math.ceil(all.width), height, scale: 1 };
      const { data } = await this.send("Page.captureScreenshot",
        { captureBeyondViewport: true, clip });
      fs.writeFileSync(`${name}-${piece}.png`, Buffer.from(data, "base64"));
    }
  }

  close() {
    this.browser.pages.delete(this.session);
    return this.browser.send("Target.closeTarget", { targetId: this.target });
  }
}
