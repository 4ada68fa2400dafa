// Draws what the page describes: charts with Vega-Lite, timelines (timeline.js) with uPlot. It
// loads nothing. `wakeplace.mount` takes the part of a page to be drawn, and what is drawn there by
// id.
const wakeplace = (() => {
"use strict";

const root = document.documentElement;

// ---- Light and dark

// crates/report/assets/palettes.json.
const PALETTES = JSON.parse(document.getElementById("palettes").textContent);
const TASK = { light: [62, 47], dark: [58, 62] };
for (const [name, [saturation, lightness]] of Object.entries(TASK)) {
  PALETTES[name].task = (hue) => `hsl(${hue} ${saturation}% ${lightness}%)`;
  PALETTES[name].ink = (hue) => inkOn(hue, saturation / 100, lightness / 100);
}

// Black or white, whichever is told better from a colour. One of them always has 4.58 to 1: WCAG's
// contrast is (a + 0.05) / (b + 0.05), and 0.179 is where both are equal.
function inkOn(hue, saturation, lightness) {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const part = (n) => {
    const at = (n + hue / 30) % 12;
    const value = lightness - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1));
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * part(0) + 0.7152 * part(8) + 0.0722 * part(4);
  return luminance > 0.179 ? "#000" : "#fff";
}

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
    else if (key === "labelLimit" && width < 460) copy[key] = 126;
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
  const spec = fitted(state.specs[state.choice], width);
  spec.description = state.element.getAttribute("aria-label");
  spec.autosize = { type: "fit-x", contains: "padding" };
  // `ast`: expressions are interpreted. To compile them is what the page may not do.
  const result = await vegaEmbed(state.element, spec, {
    actions: false, ast: true, renderer: "svg", config: config(width), defaultStyle: false,
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

// One case at a time is read: all charts of the result that have it follow.
function choose(select) {
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

// Draws all of a part of the page; `drawn` has charts and timelines by their elements' ids.
function mount(part, drawn) {
  for (const button of part.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", () => copy(button));
  }
  for (const element of part.querySelectorAll(".drawing")) {
    const specs = drawn.charts[element.id];
    charts.set(element.id, { element, specs, choice: 0, turn: 0, wanted: false, result: null });
    seen.observe(element);
    places.observe(element);
  }
  for (const select of part.querySelectorAll("select[data-chart]")) {
    select.addEventListener("change", () => choose(select));
  }
  for (const element of part.querySelectorAll(".line")) {
    timelines.push(new wakeplace.Timeline(element, drawn.timelines[element.id]));
    places.observe(element);
  }
}

// Takes away what was drawn in a part of the page, and its content.
function clear(part) {
  for (const [id, state] of charts) {
    if (!part.contains(state.element)) continue;
    seen.unobserve(state.element);
    places.unobserve(state.element);
    state.turn++;
    state.result?.finalize();
    charts.delete(id);
  }
  for (let at = timelines.length - 1; at >= 0; at--) {
    if (!part.contains(timelines[at].element)) continue;
    places.unobserve(timelines[at].element);
    timelines[at].destroy();
    timelines.splice(at, 1);
  }
  part.replaceChildren();
}

applyTheme();
return { mount, clear, palette };
})();
