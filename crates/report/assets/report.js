// Draws what the page describes: charts with Vega-Lite, timelines with uPlot. It loads nothing.
(() => {
"use strict";

const drawn = JSON.parse(document.getElementById("drawn").textContent);
const root = document.documentElement;

// ---- Light and dark

// crates/report/assets/palettes.json.
const PALETTES = drawn.palettes;
PALETTES.light.task = (hue) => `hsl(${hue} 62% 47%)`;
PALETTES.dark.task = (hue) => `hsl(${hue} 58% 62%)`;

function stored() {
  try { return localStorage.getItem("wakeplace-theme"); } catch { return null; }
}

const preference = matchMedia("(prefers-color-scheme: dark)");
let theme = stored() || (preference.matches ? "dark" : "light");

function applyTheme() {
  root.dataset.theme = theme;
  document.getElementById("theme-word").textContent = theme === "dark" ? "Dark" : "Light";
}

function palette() {
  return PALETTES[theme];
}

// `@name` and `@nameN` in a description are colours of the theme.
function colour(name) {
  const found = /^@([a-z]+?)(\d*)$/.exec(name);
  if (!found) return name;
  const key = found[1] === "quiet" ? "quietly" : found[1];
  const value = palette()[key];
  if (Array.isArray(value)) return value[Number(found[2] || 0) % value.length];
  return value || name;
}

// ---- Charts

function fitted(value, width) {
  if (typeof value === "string") return value.startsWith("@") ? colour(value) : value;
  if (Array.isArray(value)) return value.map((one) => fitted(one, width));
  if (value === null || typeof value !== "object") return value;
  const copy = {};
  for (const [key, one] of Object.entries(value)) {
    if (key === "values") copy[key] = one;
    else if (key === "labelLimit" && width < 460) copy[key] = 104;
    else copy[key] = fitted(one, width);
  }
  if (copy.legend && copy.scale?.domain) copy.legend.columns = columns(copy.scale.domain, width);
  return copy;
}

// As many columns of a legend as its longest word leaves room for.
function columns(names, width) {
  const longest = Math.max(...names.map((name) => name.length));
  return Math.max(1, Math.min(names.length, Math.floor(width / (longest * 7 + 34))));
}

function config(width) {
  const p = palette();
  const font = getComputedStyle(document.body).fontFamily;
  const words = { labelColor: p.quiet, titleColor: p.text, labelFont: font, titleFont: font };
  return {
    background: "transparent", font, view: { stroke: null },
    axis: { ...words, gridColor: p.grid, domainColor: p.axis, tickColor: p.axis, labelFontSize: 12,
      titleFontSize: 12, titleFontWeight: 500, titlePadding: 8 },
    axisXQuantitative: { tickCount: Math.max(3, Math.min(10, Math.floor((width - 120) / 65))) },
    axisYQuantitative: { tickCount: 5 },
    axisBand: { grid: false },
    legend: { ...words, labelFontSize: 12, symbolSize: 110, labelLimit: 260, rowPadding: 4,
      symbolStrokeWidth: 2, padding: 0, offset: 10 },
    bar: { color: p.series[0] },
  };
}

const charts = new Map();

async function draw(id) {
  const state = charts.get(id);
  const mine = ++state.turn;
  const width = state.element.clientWidth;
  const spec = fitted(drawn.charts[id][state.choice], width);
  spec.description = state.element.getAttribute("aria-label");
  spec.autosize = { type: "fit-x", contains: "padding" };
  const result = await vegaEmbed(state.element, spec, {
    actions: false, renderer: "svg", config: config(width), defaultStyle: false,
    tooltip: { theme: "wp", offsetX: 12, offsetY: 12 },
  });
  if (state.turn !== mine) { result.finalize(); return; }
  if (state.result) state.result.finalize();
  state.result = result;
}

function drawSafely(id) {
  draw(id).catch((error) => {
    charts.get(id).element.textContent = "This chart could not be drawn; see its table.";
    console.error(id, error);
  });
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const state = charts.get(entry.target.id);
    if (entry.isIntersecting && entry.target.clientWidth > 0 && !state.wanted) {
      state.wanted = true;
      seen.unobserve(entry.target);
      drawSafely(entry.target.id);
    }
  }
}, { rootMargin: "900px" });

for (const element of document.querySelectorAll(".drawing")) {
  charts.set(element.id, { element, choice: 0, turn: 0, wanted: false, result: null });
}

for (const select of document.querySelectorAll("select[data-chart]")) {
  select.addEventListener("change", () => {
    // One case at a time is read: all charts of the result that have it follow.
    const word = select.selectedOptions[0].textContent;
    const own = select.closest("article").querySelectorAll("select[data-chart]");
    for (const other of own) {
      const at = Array.from(other.options).findIndex((option) => option.textContent === word);
      if (at < 0) continue;
      other.selectedIndex = at;
      const state = charts.get(other.dataset.chart);
      state.choice = at;
      if (state.wanted) drawSafely(other.dataset.chart);
    }
  });
}

// ---- Timelines

const hue = (at) => Math.round((at * 137.508 + 210) % 360);
const ms = (ns) => (ns / 1e6).toFixed(3);

class Timeline {
  constructor(element, data) {
    this.element = element;
    this.data = data;
    this.length = data.length_ns / 1e6;
    this.view = [0, this.length];
    this.only = null;
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
    const keys = document.createElement("ul");
    keys.className = "keys";
    this.buttons = [];
    for (const [task, name] of this.data.tasks.slice(0, 40)) keys.append(this.key(task, name));
    this.element.append(controls, this.plots, this.readout, keys);
    this.element.addEventListener("keydown", (event) => this.press(event));
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

  build() {
    const p = palette();
    for (const { swatch, task } of this.buttons) {
      swatch.style.background = p.task(this.hues.get(task));
    }
    for (const plot of [this.main, this.below]) plot?.destroy();
    this.plots.replaceChildren();
    const width = Math.max(this.element.clientWidth, 200);
    this.main = new uPlot(this.mainOptions(width), [[0, this.length], [null, null]], this.plots);
    const steps = this.frequencies();
    this.below = steps.data.length > 1
      ? new uPlot(this.belowOptions(width, steps.names), steps.data, this.plots) : null;
    this.show(...this.view);
  }

  axis(more) {
    const p = palette();
    const font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const line = { stroke: p.grid, width: 1 };
    const words = { stroke: p.quiet, font, labelFont: font, labelSize: 20 };
    return { ...words, grid: line, ticks: line, ...more };
  }

  time(label) {
    // Times of the run, not of the window.
    const start = this.data.from_ns / 1e6;
    return this.axis({ space: 70, size: label ? 30 : 34, label,
      values: (_plot, splits) => splits.map((at) => +(at + start).toFixed(4)) });
  }

  shared(width, height) {
    const drag = { x: true, y: false, setScale: true };
    const cursor = { sync: { key: this.element.id }, drag, points: { show: false } };
    return { width, height, padding: [6, 22, 0, 0], legend: { show: false }, cursor };
  }

  across() {
    return { time: false, min: 0, max: this.length };
  }

  mainOptions(width) {
    const cpus = this.data.cpus;
    const row = cpus <= 16 ? 24 : cpus <= 64 ? 14 : 6;
    const every = Math.ceil(cpus / Math.floor(cpus * row / 13));
    const splits = Array.from({ length: cpus }, (_one, at) => at).filter((at) => at % every === 0);
    return {
      ...this.shared(width, cpus * row + 40),
      scales: { x: this.across(), y: { range: [-0.5, cpus - 0.5], dir: -1 } },
      series: [{}, { scale: "y", paths: () => null }],
      axes: [this.time(), this.axis({ size: 36, label: "CPU", grid: { show: false },
        splits: () => splits, values: (_plot, all) => all.map(String) })],
      hooks: {
        draw: [(plot) => this.paint(plot)],
        setCursor: [(plot) => this.tell(plot)],
        setScale: [(plot, key) => {
          if (key !== "x") return;
          const { min, max } = plot.scales.x;
          if (min == null || (min === this.view[0] && max === this.view[1])) return;
          this.view = [min, max];
          this.below?.setScale("x", { min, max });
        }],
      },
    };
  }

  belowOptions(width, names) {
    const p = palette();
    const stepped = uPlot.paths.stepped({ align: 1 });
    const lines = names.map((label, at) => ({ label, scale: "y", stroke: p.series[at % 8], width: 2,
      paths: stepped, points: { show: false } }));
    const legend = { show: names.length > 1, live: false };
    return {
      ...this.shared(width, 150), legend,
      scales: { x: this.across(), y: { range: (_plot, _min, max) => [0, max * 1.05] } },
      series: [{}, ...lines],
      axes: [this.time("time (ms)"), this.axis({ size: 36, label: "GHz",
        values: (_plot, all) => all.map((at) => +at.toFixed(2)) })],
    };
  }

  // Steps of all domains over the times of any.
  frequencies() {
    const { steps, domains } = this.data;
    const known = domains.map((_cpus, at) => at);
    const shown = known.filter((at) => steps.some((step) => step[0] === at)).slice(0, 8);
    const until = this.data.until_ns;
    const all = new Set([...steps.map((step) => step[1]), until]);
    const times = [...all].filter((at) => at <= until).sort((a, b) => a - b);
    const data = [times.map((at) => at / 1e6)];
    for (const domain of shown) {
      const own = steps.filter((step) => step[0] === domain);
      let at = 0;
      let last = null;
      data.push(times.map((time) => {
        while (at < own.length && own[at][1] <= time) last = own[at++][2] / 1e6;
        return last;
      }));
    }
    return { data, names: shown.map((at) => `CPUs ${domains[at]}`) };
  }

  paint(plot) {
    const p = palette();
    const { ctx, bbox } = plot;
    const scale = uPlot.pxRatio;
    const { min, max } = plot.scales.x;
    const x = (ns) => bbox.left + (ns / 1e6 - min) / (max - min) * bbox.width;
    const height = bbox.height / this.data.cpus;
    const bar = Math.max(height - Math.min(4 * scale, height * 0.25), 1);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const each = (rows, act) => rows.forEach((row, cpu) => {
      const top = bbox.top + cpu * height + (height - bar) / 2;
      for (const span of row) {
        const left = x(span.from);
        const right = x(span.to);
        if (right >= bbox.left && left <= bbox.left + bbox.width) act(span, left, right, top);
      }
    });
    each(this.resting, (span, left, right, top) => {
      ctx.fillStyle = p.idleRows[Math.min(span.state, p.idleRows.length - 1)];
      ctx.fillRect(left, top, right - left, bar);
    });
    const marks = this.data.overutilized;
    ctx.fillStyle = p.series[4];
    marks.forEach(([at, on], index) => {
      const end = index + 1 < marks.length ? marks[index + 1][0] : this.data.until_ns;
      if (on) ctx.fillRect(x(at), bbox.top, x(end) - x(at), 3 * scale);
    });
    ctx.font = `${11 * scale}px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textBaseline = "middle";
    each(this.rows, (span, left, right, top) => {
      ctx.globalAlpha = this.only === null || this.only === span.task ? 1 : p.faded;
      ctx.fillStyle = p.task(this.hues.get(span.task) ?? 0);
      ctx.fillRect(left, top, Math.max(right - left, scale), bar);
      const name = this.names.get(span.task) ?? "";
      const start = Math.max(left, bbox.left) + 4 * scale;
      if (bar >= 14 * scale && right - start > ctx.measureText(name).width + 4 * scale) {
        ctx.fillStyle = p.ink;
        ctx.fillText(name, start, top + bar / 2);
      }
      ctx.globalAlpha = 1;
    });
    ctx.restore();
  }

  tell(plot) {
    const { left, top } = plot.cursor;
    if (left == null || left < 0 || top < 0) return;
    const at = plot.posToVal(left, "x") * 1e6;
    const cpu = Math.round(plot.posToVal(top, "y"));
    if (!this.rows[cpu]) return;
    const time = `CPU ${cpu} at ${ms(at + this.data.from_ns)} ms: `;
    const inside = (span) => span.from <= at && at < span.to;
    const span = this.rows[cpu].find(inside);
    if (span) {
      const name = this.names.get(span.task) ?? `task ${span.task}`;
      const mine = (one) => one[1] === span.task && one[0] <= span.to && one[3] === cpu;
      const placed = this.data.placed.findLast(mine);
      const why = placed ? `; placed there by ${this.data.reasons[placed[4]]}` : "";
      this.readout.textContent = `${time}${name} for ${ms(span.to - span.from)} ms${why}`;
      return;
    }
    const rest = this.resting[cpu].find(inside);
    const name = rest && this.data.idle_states[rest.state];
    const state = rest ? `idle in ${name} for ${ms(rest.to - rest.from)} ms` : "between states";
    this.readout.textContent = time + state;
  }
}

const timelines = [];

// ---- The page

function copy(button) {
  const text = document.getElementById(button.dataset.copy);
  const done = () => {
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  const select = () => {
    // Files opened from a disk may not write to the clipboard: the text is selected instead.
    getSelection().selectAllChildren(text);
    button.textContent = "Selected";
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(done, select);
  else select();
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", () => copy(button));
}

function redraw() {
  for (const [id, state] of charts) if (state.wanted) drawSafely(id);
  for (const line of timelines) line.build();
}

function setTheme(next) {
  theme = next;
  applyTheme();
  redraw();
}

document.getElementById("theme").addEventListener("click", () => {
  setTheme(theme === "dark" ? "light" : "dark");
  try { localStorage.setItem("wakeplace-theme", theme); } catch { /* not for files from a disk */ }
});
preference.addEventListener("change", () => {
  if (!stored()) setTheme(preference.matches ? "dark" : "light");
});

// What is as wide as its place is drawn again when the place changes.
const widths = new WeakMap();
const places = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const width = target.clientWidth;
    const before = widths.get(target);
    widths.set(target, width);
    if (before === undefined || width === 0 || Math.abs(width - before) < 2) continue;
    late.add(target);
    // Not at once: what is drawn changes heights, and with them what this watches.
    setTimeout(again, 60);
  }
});
const late = new Set();

function again() {
  for (const target of late) {
    const state = charts.get(target.id);
    if (!state) timelines.find((line) => line.element === target)?.build();
    else if (state.wanted) drawSafely(target.id);
  }
  late.clear();
}
addEventListener("beforeprint", () => {
  for (const [id, state] of charts) {
    if (!state.wanted && state.element.clientWidth > 0) { state.wanted = true; drawSafely(id); }
  }
});

applyTheme();
for (const element of document.querySelectorAll(".line")) {
  timelines.push(new Timeline(element, drawn.timelines[element.id]));
  places.observe(element);
}
for (const { element } of charts.values()) {
  seen.observe(element);
  places.observe(element);
}
})();
