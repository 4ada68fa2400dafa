// What ran where: what is shown, and what keys and clicks do (timeline-drawing.js draws it). Arrow
// keys move, comma and full stop go from one placement to the next. Where somebody listens for
// `wakeplace-placement`, a click or Enter tells which placement is meant.
(() => {
"use strict";

const hue = (at) => Math.round((at * 137.508 + 210) % 360);
const ms = (ns) => (ns / 1e6).toFixed(3);

class Timeline extends wakeplace.TimelineDrawing {
  constructor(element, data) {
    super();
    this.element = element;
    this.data = data;
    this.length = data.length_ns / 1e6;
    this.view = [0, this.length];
    this.only = null;
    // The placement that is marked, by its place in the list.
    this.marked = null;
    this.names = new Map(data.tasks);
    this.hues = new Map(data.tasks.map(([task], at) => [task, hue(at)]));
    this.rows = Array.from({ length: data.cpus }, () => []);
    for (const [cpu, task, from, to] of data.ran) this.rows[cpu].push({ task, from, to });
    this.resting = Array.from({ length: data.cpus }, () => []);
    for (const [cpu, state, from, to] of data.idle) this.resting[cpu].push({ state, from, to });
    this.frame();
    this.build();
  }

  frame() {
    const controls = document.createElement("div");
    controls.className = "controls";
    const button = (text, label, act) => {
      const one = document.createElement("button");
      one.type = "button";
      one.textContent = text;
      one.setAttribute("aria-label", label);
      one.addEventListener("click", act);
      controls.append(one);
    };
    button("+", "Zoom in", () => this.zoom(0.5));
    button("−", "Zoom out", () => this.zoom(2));
    button("←", "Earlier", () => this.move(-0.25));
    button("→", "Later", () => this.move(0.25));
    button("All", "Show the whole window", () => this.show(0, this.length));
    this.plots = document.createElement("div");
    this.readout = document.createElement("p");
    this.readout.className = "readout";
    this.readout.textContent = "Point at a stretch to see its task. Drag to zoom.";
    this.readout.setAttribute("role", "status");
    const keys = document.createElement("ul");
    keys.className = "keys";
    this.buttons = [];
    for (const [task, name] of this.data.tasks.slice(0, 40)) keys.append(this.key(task, name));
    this.states = this.stateKeys();
    this.element.append(controls, this.plots, this.readout, this.states, keys);
    this.element.addEventListener("keydown", (event) => this.press(event));
  }

  // What the greys and the red line are: of those that are drawn.
  stateKeys() {
    const list = document.createElement("ul");
    list.className = "states";
    this.swatches = [];
    const add = (text, colour) => {
      const item = document.createElement("li");
      const swatch = document.createElement("i");
      item.append(swatch, text);
      list.append(item);
      this.swatches.push({ swatch, colour });
    };
    const drawn = new Set(this.data.idle.map((span) => span[1]));
    const shownOnce = new Set();
    this.data.idle_states.forEach((name, at) => {
      if (!drawn.has(at) || shownOnce.has(name)) return;
      shownOnce.add(name);
      add(`idle in ${name}`, (p) => this.idleColour(p, at));
    });
    if (this.data.overutilized.some((mark) => mark[1])) add("overutilized", (p) => p.alarm);
    return list;
  }

  key(task, name) {
    const item = document.createElement("li");
    const one = document.createElement("button");
    const swatch = document.createElement("i");
    one.type = "button";
    one.setAttribute("aria-pressed", "false");
    one.append(swatch, name);
    one.addEventListener("click", () => {
      this.only = this.only === task ? null : task;
      for (const other of this.buttons) {
        other.one.setAttribute("aria-pressed", String(other.task === this.only));
      }
      this.main.redraw();
    });
    this.buttons.push({ one, swatch, task });
    item.append(one);
    return item;
  }

  press(event) {
    if (event.target !== this.element) return;
    const acts = {
      ArrowLeft: () => this.move(-0.25), ArrowRight: () => this.move(0.25),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      0: () => this.show(0, this.length),
      ",": () => this.step(-1), ".": () => this.step(1), Enter: () => this.choose(this.marked),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  zoom(factor) {
    const middle = (this.view[0] + this.view[1]) / 2;
    const half = Math.max((this.view[1] - this.view[0]) * factor / 2, this.length / 1e5);
    this.show(middle - half, middle + half);
  }

  move(share) {
    const by = (this.view[1] - this.view[0]) * share;
    this.show(this.view[0] + by, this.view[1] + by);
  }

  show(from, to) {
    const width = Math.min(to - from, this.length);
    const left = Math.min(Math.max(from, 0), this.length - width);
    this.view = [left, left + width];
    const scale = { min: left, max: left + width };
    for (const plot of [this.main, this.below]) plot?.setScale("x", scale);
  }

  // Marks the next placement, and tells of it.
  step(by) {
    const { placed } = this.data;
    if (placed.length === 0) return;
    const next = this.marked === null ? (by > 0 ? 0 : placed.length - 1) : this.marked + by;
    this.mark(Math.min(Math.max(next, 0), placed.length - 1));
    const [at] = placed[this.marked];
    const [from, to] = this.view;
    if (at / 1e6 < from || at / 1e6 > to) {
      this.show(at / 1e6 - (to - from) / 2, at / 1e6 + (to - from) / 2);
    }
  }

  mark(at) {
    this.marked = at;
    const [ns, task, previous, cpu, reason] = this.data.placed[at];
    const name = this.name(task);
    this.readout.textContent = `Placement ${at + 1} of ${this.data.placed.length}: ${name} at `
      + `${ms(ns + this.data.from_ns)} ms, from CPU ${previous} to CPU ${cpu} by `
      + `${this.data.reasons[reason]}`;
    this.main.redraw(false);
  }

  // Says to whoever listens which placement is meant.
  choose(at) {
    if (at === null || !this.data.placed[at]) return;
    this.mark(at);
    const [ns, task, , cpu, , fresh] = this.data.placed[at];
    const { policy, seed, from_ns: from } = this.data;
    const detail = { policy, seed, task: this.name(task), at_ns: ns + from, cpu, fresh: fresh > 0 };
    const event = new CustomEvent("wakeplace-placement", { bubbles: true, detail });
    this.element.dispatchEvent(event);
  }

  name(task) {
    return this.names.get(task) ?? `task ${task}`;
  }

  // The placement that brought the task to where it is at a place of the drawing, if any is known.
  placementAt(plot, left, top) {
    const found = this.spanAt(plot, left, top);
    if (!found) return null;
    const { span, cpu } = found;
    const mine = (one) => one[1] === span.task && one[0] <= span.to && one[3] === cpu;
    const at = this.data.placed.findLastIndex(mine);
    return at < 0 ? null : at;
  }

  // Fingers and pixels are wider than short stretches: the nearest within a few pixels counts.
  spanAt(plot, left, top) {
    const cpu = Math.round(plot.posToVal(top, "y"));
    const at = plot.posToVal(left, "x") * 1e6;
    const slack = 4 * (plot.posToVal(1, "x") - plot.posToVal(0, "x")) * 1e6;
    let best = null;
    for (const span of this.rows[cpu] ?? []) {
      const away = Math.max(span.from - at, at - span.to, 0);
      if (away <= slack && (!best || away < best.away)) best = { span, cpu, away };
    }
    return best;
  }

  destroy() {
    for (const plot of [this.main, this.below]) plot?.destroy();
  }

  build() {
    const p = wakeplace.palette();
    for (const { swatch, task } of this.buttons) {
      swatch.style.background = p.task(this.hues.get(task));
    }
    for (const { swatch, colour } of this.swatches) swatch.style.background = colour(p);
    this.destroy();
    this.plots.replaceChildren();
    const width = Math.max(this.element.clientWidth, 200);
    this.main = new uPlot(this.mainOptions(width), [[0, this.length], [null, null]], this.plots);
    const steps = this.frequencies();
    this.below = steps.data.length > 1
      ? new uPlot(this.belowOptions(width, steps.names), steps.data, this.plots) : null;
    this.listen(this.main);
    this.show(...this.view);
  }

  // A press without a drag is a choice.
  listen(plot) {
    let down = null;
    plot.over.addEventListener("pointerdown", (event) => {
      down = [event.clientX, event.clientY];
    });
    plot.over.addEventListener("click", (event) => {
      const moved = down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4;
      if (moved) return;
      const box = plot.over.getBoundingClientRect();
      this.choose(this.placementAt(plot, event.clientX - box.left, event.clientY - box.top));
    });
  }

  tell(plot) {
    const { left, top } = plot.cursor;
    if (left == null || left < 0 || top < 0) return;
    const at = plot.posToVal(left, "x") * 1e6;
    const cpu = Math.round(plot.posToVal(top, "y"));
    if (!this.rows[cpu]) return;
    const time = `CPU ${cpu} at ${ms(at + this.data.from_ns)} ms: `;
    const inside = (span) => span.from <= at && at < span.to;
    const span = this.rows[cpu].find(inside) ?? this.spanAt(plot, left, top)?.span;
    if (span) {
      const placed = this.data.placed[this.placementAt(plot, left, top)];
      const why = placed ? `; placed there by ${this.data.reasons[placed[4]]}` : "";
      const length = ms(span.to - span.from);
      this.readout.textContent = `${time}${this.name(span.task)} for ${length} ms${why}`;
      return;
    }
    const rest = this.resting[cpu].find(inside);
    const name = rest && this.data.idle_states[rest.state];
    const state = rest ? `idle in ${name} for ${ms(rest.to - rest.from)} ms` : "between states";
    this.readout.textContent = time + state;
  }
}

wakeplace.Timeline = Timeline;
})();
