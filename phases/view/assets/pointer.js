/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cell that the reader selects by pointer or keyboard, and navigation in the run. */

class Pointer {
  constructor(plots) {
    this.plots = plots;
    this.run = plots.run;
    this.left = 0;
    this.right = 0;
    plots.matrix.on_event("mousemove", (event) => this.hover(event));
    plots.matrix.on_event("mouseleave", () => hint.hide());
    plots.matrix.on_event("tap", (event) => this.tap(event));
    for (const strip of plots.strips) {
      strip.on_event("mousemove", (event) => this.hoverStrip(event));
      strip.on_event("mouseleave", () => hint.hide());
    }
    document.addEventListener("pointermove", (event) => {
      this.at = { x: event.clientX, y: event.clientY };
    }, { capture: true });
  }

  /** Returns the pair under a point of the matrix, the earlier interval first. Returns null outside
      the upper triangle. */
  pairAt({ x, y }) {
    const column = Math.floor(x), row = Math.floor(y);
    const inside = [row, column].every((number) => number >= 0 && number < this.run.intervals);
    return inside && row <= column ? [row, column] : null;
  }

  lines(left, right) {
    const { distances, level } = this.plots;
    return [
      intervalWords(this.run, left), intervalWords(this.run, right),
      distanceWords(distances, left, right), tileWords(distances, level, left, right),
    ];
  }

  hover(event) {
    const pair = this.pairAt(event);
    if (pair === null) {
      hint.hide();
      return;
    }
    const show = () => hint.show(this.lines(...pair), this.at.x, this.at.y);
    this.hovered = pair;
    show();
    server.ask(this.plots.distances, ...pair, () => {
      if (this.hovered === pair && !document.getElementById("hint").hidden) {
        show();
      }
    });
  }

  hoverStrip({ x }) {
    const size = cellSize(this.plots.columns);
    const first = Math.floor(x / size) * size;
    if (first < 0 || first >= this.run.intervals) {
      hint.hide();
      return;
    }
    const end = Math.min(first + size, this.run.intervals);
    const lines = binWords(this.run, this.plots.timeline, first, end);
    hint.show([...lines, ...markerWords(this.run, first, end)], this.at.x, this.at.y);
  }

  tap(event) {
    const pair = this.pairAt(event);
    if (pair !== null) {
      this.choose(...pair);
      this.show();
    }
  }

  /** Move the cursor to a pair and describe the pair in text. */
  choose(left, right) {
    const clamp = (number) => Math.min(Math.max(number, 0), this.run.intervals - 1);
    [this.left, this.right] = [clamp(left), clamp(right)].sort((a, b) => a - b);
    this.follow();
    this.mark();
    say(this.lines(this.left, this.right));
  }

  mark() {
    const size = this.plots.cell;
    const middle = (number) => (Math.floor(number / size) + 0.5) * size;
    this.plots.model("cursor").data = {
      x: [middle(this.right)], y: [middle(this.left)], width: [size], height: [size],
    };
  }

  /** Show both intervals' blocks. If the page has a server, the exact distance follows later. */
  show() {
    const { distances } = this.plots;
    const { left, right } = this;
    showCell(distances, left, right);
    server.ask(distances, left, right, () => {
      if (this.left === left && this.right === right) {
        showCell(distances, left, right);
        say(this.lines(left, right));
      }
    });
  }

  /** Pan so that the cursor is visible. */
  follow() {
    const { x_range: across, y_range: down } = this.plots.matrix;
    this.bring(across, this.right, (start, end) => across.setv({ start, end }));
    this.bring(down, this.left, (start, end) => down.setv({ start: end, end: start }));
  }

  bring(range, at, set) {
    const low = Math.min(range.start, range.end), high = Math.max(range.start, range.end);
    if (at >= low && at + 1 <= high) {
      return;
    }
    const start = Math.min(Math.max(0, at - (high - low) / 2), this.run.intervals - (high - low));
    set(start, start + high - low);
  }

  /** Zoom around the cursor. The smallest window has four intervals. */
  zoom(factor) {
    const { intervals } = this.run;
    const { x_range: across, y_range: down } = this.plots.matrix;
    const window = (range, at) => {
      const extent = Math.abs(range.end - range.start);
      const wanted = Math.min(intervals, Math.max(Math.min(4, intervals), extent * factor));
      const start = Math.min(Math.max(0, at + 0.5 - wanted / 2), intervals - wanted);
      return [start, start + wanted];
    };
    const [left, right] = window(across, this.right);
    const [top, bottom] = window(down, this.left);
    across.setv({ start: left, end: right });
    down.setv({ start: bottom, end: top });
  }

  whole() {
    const { intervals } = this.run;
    this.plots.matrix.x_range.setv({ start: 0, end: intervals });
    this.plots.matrix.y_range.setv({ start: intervals, end: 0 });
  }
}
