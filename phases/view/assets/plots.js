/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Updates the Bokeh figures to show the visible part of the run, in the page's colours. */

class Plots {
  constructor(run, bokehDocument) {
    this.run = run;
    this.distances = new Distances(run);
    this.timeline = new Timeline(run);
    this.model = (name) => bokehDocument.get_model_by_name(name);
    this.matrix = this.model("matrix");
    this.strips = ["phases", "markers", "calls", "bytes"].map(this.model).filter(Boolean);
    this.statistic = "mean";
    this.waiting = false;
    this.listeners = [];
    for (const range of [this.matrix.x_range, this.matrix.y_range]) {
      range.change.connect(() => this.refreshSoon());
    }
  }

  get columns() {
    return visibleSpan(this.matrix.x_range, this.run.intervals);
  }

  get rows() {
    return visibleSpan(this.matrix.y_range, this.run.intervals);
  }

  /** Refresh in the next frame. Several changes before that frame cause one refresh. */
  refreshSoon() {
    hint.hide();
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.refresh();
      });
    }
  }

  refresh() {
    const began = performance.now();
    const picture = paint(this.distances, this.statistic, this.columns, this.rows);
    this.showPicture(picture);
    this.showTimeline();
    this.cell = picture.size;
    this.level = picture.level;
    server.askCells(this, picture);
    document.documentElement.dataset.painted = (performance.now() - began).toFixed(1);
    this.listeners.forEach((listener) => listener());
  }

  showPicture({ values, size, across, down }) {
    const Float32NDArray = Bokeh.require("core/util/ndarray").Float32NDArray;
    // The last cell of an axis may stand for fewer intervals. It is as wide as the other cells.
    const width = across.count * size, height = down.count * size;
    this.model("picture").data = {
      image: [new Float32NDArray(values, [down.count, across.count])],
      x: [across.first * size], y: [down.first * size], dw: [width], dh: [height],
    };
  }

  showTimeline() {
    const span = this.columns;
    this.showPhases(span);
    if (this.run.markers.length) {
      this.source("markers").data = this.timeline.ticks(span);
    }
    for (const name of ["calls", "bytes"]) {
      const rates = this.timeline.rates(name, span);
      this.source(name).data = rates;
      this.model(name).y_range.end = Math.max(...rates.top) * 1.05 || 1;
    }
  }

  showPhases(span) {
    const { phases } = this.run;
    const pixels = (this.matrix.inner_width || 500) / (span.high - span.low);
    const colour = (phase) => phases[phase].colour;
    const shares = this.timeline.shares(span);
    this.source("phases").data = { ...shares, colour: shares.phase.map(colour) };
    this.source("names").data = stripLabels(shares, phases, span, pixels);
    const diagonal = this.timeline.diagonal(span);
    this.model("visits").data = {
      start: diagonal.map(({ start }) => start),
      end: diagonal.map(({ end }) => end),
      colour: diagonal.map(({ phase }) => colour(phase)),
    };
    const visits = this.timeline.visits(span, 2 / pixels);
    this.source("labels").data = diagonalLabels(visits, phases, span, pixels);
  }

  source(name) {
    return this.model(`${name} source`);
  }

  colours(names) {
    this.model("distance colours").palette = names;
  }

  /** Give the figures the page's colours, which follow the preference of the reader's system. */
  adopt(style = getComputedStyle(document.documentElement)) {
    const [ink, line] = ["--ink", "--line"].map((name) =>
      style.getPropertyValue(name).trim());
    for (const figure of [this.matrix, ...this.strips]) {
      figure.outline_line_color = line;
      for (const axis of [...figure.left, ...figure.below]) {
        axis.setv({
          axis_label_text_color: ink, major_label_text_color: ink, axis_line_color: line,
          major_tick_line_color: line, minor_tick_line_color: null,
        });
      }
    }
    this.model("bar").setv({
      background_fill_color: null, major_label_text_color: ink, title_text_color: ink,
    });
    this.model("labels").glyph.text_color = { value: ink };
  }
}
