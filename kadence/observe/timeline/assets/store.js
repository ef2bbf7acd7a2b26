/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lanes' spans, decoded as page.py says. Times are ns. */
const store = {
  header: JSON.parse(document.getElementById("header").textContent),
  lanes: [],

  async load() {
    const text = document.getElementById("data").textContent.trim();
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    let at = 0;
    const number = () => {
      let found = 0;
      let scale = 1;
      for (;;) {
        const byte = bytes[at++];
        found += (byte & 127) * scale;
        if (byte < 128) return found;
        scale *= 128;
      }
    };
    this.lanes = this.header.lanes.map((lane) => this.decode(lane, number));
  },

  decode(lane, number) {
    const begins = new Float64Array(lane.count);
    const ends = new Float64Array(lane.count);
    const labels = new Uint32Array(lane.count);
    let time = 0;
    for (let i = 0; i < lane.count; i++) {
      begins[i] = time + number();
      ends[i] = time = begins[i] + number();
      labels[i] = number();
    }
    return { ...lane, begins, ends, labels };
  },

  /* The first place of a rising array whose value is more than this, or at least this. */
  firstAbove(values, value, orEqual = false, from = 0) {
    let low = from;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] > value || (orEqual && values[middle] === value)) high = middle;
      else low = middle + 1;
    }
    return low;
  },

  /* The place of the lane's span at a time, or -1. */
  at(lane, time) {
    const place = this.firstAbove(lane.ends, time, true);
    return place < lane.count && lane.begins[place] <= time ? place : -1;
  },
};
