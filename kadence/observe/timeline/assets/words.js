/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times and spans in words. */
const words = {
  UNITS: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],

  /* 1, 2 or 5 times a power of ten, at least this. */
  roundStep(least) {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least) || power;
  },

  /* A time, as exact as the step between two of them needs. */
  time(ns, step = 1) {
    const [size, unit] = this.UNITS.find(([each]) => Math.abs(ns) >= each) || [1, "ns"];
    const digits = Math.max(0, Math.ceil(Math.log10(size / step)));
    return `${(ns / size).toFixed(Math.min(digits, 6))} ${unit}`;
  },

  span(lane, i) {
    const name = store.header.labels[lane.labels[i]];
    const took = this.time(lane.ends[i] - lane.begins[i]);
    return `${lane.owner}: ${name}, ${took}, from ${this.time(lane.begins[i])}`;
  },

  /* How often a name is in view, and for how long. */
  total(label, { from, to }) {
    let count = 0;
    let ns = 0;
    for (const lane of store.lanes) {
      const end = store.firstAbove(lane.begins, to);
      for (let i = store.firstAbove(lane.ends, from); i < end; i++) {
        if (lane.labels[i] !== label) continue;
        count++;
        ns += Math.min(lane.ends[i], to) - Math.max(lane.begins[i], from);
      }
    }
    return `${count.toLocaleString("en")} in view, ${this.time(ns)} in all`;
  },
};
