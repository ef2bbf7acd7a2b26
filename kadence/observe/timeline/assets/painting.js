/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paints what is in view. A lane costs at most a span for each pixel, however many it has. */
const painting = {
  ROW: 18,
  GAP: 10,
  LEFT: 210,
  RULER: 22,
  canvas: document.getElementById("lanes"),
  scroll: document.getElementById("scroll"),
  spacer: document.getElementById("spacer"),
  rows: [],
  view: { from: 0, to: 1 },
  chosen: -1,
  took: [],

  /* Okabe and Ito 2008. */
  COLOURS: ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8ac1f", "#888888"],

  /* Those on which only dark letters can be read. */
  LIGHT: new Set(["#e69f00", "#56b4e9", "#b8ac1f", "#cc79a7"]),

  colour(label) {
    return this.COLOURS[label % this.COLOURS.length];
  },

  /* Where each lane is; a new owner begins after a gap. */
  lay() {
    let y = this.RULER;
    let owner = null;
    this.rows = store.lanes.map((lane) => {
      if (owner !== null && owner !== lane.owner) y += this.GAP;
      const row = { lane, y, isFirst: owner !== lane.owner };
      owner = lane.owner;
      y += this.ROW;
      return row;
    });
    this.spacer.style.height = `${Math.max(y + this.GAP, this.scroll.clientHeight)}px`;
  },

  width() {
    return Math.max(this.canvas.clientWidth - this.LEFT, 1);
  },

  x(time) {
    return this.LEFT + ((time - this.view.from) / (this.view.to - this.view.from)) * this.width();
  },

  time(x) {
    return this.view.from + ((x - this.LEFT) / this.width()) * (this.view.to - this.view.from);
  },

  rowAt(y) {
    const below = y + this.scroll.scrollTop;
    return this.rows.find((row) => below >= row.y && below < row.y + this.ROW);
  },

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const height = this.scroll.clientHeight;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
    this.canvas.height = Math.round(height * ratio);
  },

  paint() {
    const begin = performance.now();
    const context = this.canvas.getContext("2d");
    const ratio = window.devicePixelRatio || 1;
    const style = getComputedStyle(document.documentElement);
    this.ink = style.getPropertyValue("--text");
    this.faint = style.getPropertyValue("--faint");
    this.back = style.getPropertyValue("--back");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const row of this.rows) {
      const y = row.y - this.scroll.scrollTop;
      if (y + this.ROW > this.RULER && y < this.canvas.clientHeight) this.paintLane(context, row, y);
    }
    this.paintNames(context);
    this.paintRuler(context);
    this.took.push(performance.now() - begin);
  },

  paintLane(context, { lane }, y) {
    const { from, to } = this.view;
    const perPixel = (to - from) / this.width();
    let i = store.firstAbove(lane.ends, from);
    while (i < lane.count && lane.begins[i] < to) {
      const left = Math.max(this.x(lane.begins[i]), this.LEFT);
      const right = Math.max(Math.min(this.x(lane.ends[i]), this.LEFT + this.width()), left + 1);
      this.paintSpan(context, lane.labels[i], left, right, y);
      /* What ends within the pixel that is painted already would not be seen. */
      i = store.firstAbove(lane.ends, Math.max(lane.ends[i], this.time(left) + perPixel), false, i + 1);
    }
  },

  paintSpan(context, label, left, right, y) {
    context.globalAlpha = this.chosen < 0 || this.chosen === label ? 1 : 0.25;
    context.fillStyle = this.colour(label);
    context.fillRect(left, y + 1, right - left, this.ROW - 2);
    context.globalAlpha = 1;
    const name = store.header.labels[label];
    if (right - left < 12 + 6.5 * name.length) return;
    context.fillStyle = this.LIGHT.has(this.colour(label)) ? "#111" : "#fff";
    context.fillText(name, left + 4, y + this.ROW / 2);
  },

  paintNames(context) {
    context.fillStyle = this.back;
    context.fillRect(0, 0, this.LEFT - 2, this.canvas.clientHeight);
    for (const { lane, y, isFirst } of this.rows) {
      const at = y - this.scroll.scrollTop + this.ROW / 2;
      context.textAlign = "left";
      context.fillStyle = this.ink;
      if (isFirst) context.fillText(lane.owner, 8, at, this.LEFT - 75);
      context.textAlign = "right";
      context.fillStyle = this.faint;
      if (lane.depth === 0) context.fillText(lane.kind, this.LEFT - 10, at);
    }
    context.textAlign = "left";
  },

  paintRuler(context) {
    context.fillStyle = this.back;
    context.fillRect(0, 0, this.canvas.clientWidth, this.RULER);
    const step = words.roundStep(((this.view.to - this.view.from) / this.width()) * 110);
    const first = Math.ceil(this.view.from / step) * step;
    for (let time = first; time <= this.view.to; time += step) {
      const x = this.x(time);
      context.fillStyle = this.faint;
      context.fillRect(x, this.RULER - 5, 1, 5);
      context.fillText(words.time(time, step), x + 3, this.RULER / 2);
    }
  },
};
