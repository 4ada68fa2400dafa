// How a timeline is drawn, with uPlot on a canvas: one row per CPU, and frequencies below.
(() => {
"use strict";

class TimelineDrawing {
  // States of one name are alike, whichever cluster has them.
  idleColour(p, state) {
    const names = [...new Set(this.data.idle_states)];
    const depth = names.indexOf(this.data.idle_states[state]);
    return p.idleRows[Math.min(Math.max(depth, 0), p.idleRows.length - 1)];
  }

  axis(more) {
    const p = wakeplace.palette();
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
    // Less than this many pixels is a press.
    const drag = { x: true, y: false, setScale: true, dist: 5 };
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
    const p = wakeplace.palette();
    const stepped = uPlot.paths.stepped({ align: 1 });
    const lines = names.map((label, at) => ({ label, scale: "y", stroke: p.domain[at % 8], width: 2,
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
    const p = wakeplace.palette();
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
      ctx.fillStyle = this.idleColour(p, span.state);
      ctx.fillRect(left, top, right - left, bar);
    });
    const marks = this.data.overutilized;
    ctx.fillStyle = p.alarm;
    marks.forEach(([at, on], index) => {
      const end = index + 1 < marks.length ? marks[index + 1][0] : this.data.until_ns;
      if (on) ctx.fillRect(x(at), bbox.top, x(end) - x(at), 3 * scale);
    });
    ctx.font = `${11 * scale}px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    each(this.rows, (span, left, right, top) => {
      ctx.globalAlpha = this.only === null || this.only === span.task ? 1 : p.faded;
      const hue = this.hues.get(span.task) ?? 0;
      ctx.fillStyle = p.task(hue);
      ctx.fillRect(left, top, Math.max(right - left, scale), bar);
      const name = this.names.get(span.task) ?? "";
      const start = Math.max(left, bbox.left) + 4 * scale;
      if (bar >= 14 * scale && right - start > ctx.measureText(name).width + 4 * scale) {
        ctx.fillStyle = p.ink(hue);
        ctx.fillText(name, start, top + bar / 2);
      }
      ctx.globalAlpha = 1;
    });
    if (this.marked !== null) {
      const [at, , , cpu] = this.data.placed[this.marked];
      ctx.strokeStyle = p.text;
      ctx.lineWidth = 2 * scale;
      ctx.strokeRect(x(at), bbox.top + cpu * height, 3 * scale, height);
    }
    ctx.restore();
  }
}

wakeplace.TimelineDrawing = TimelineDrawing;
})();
