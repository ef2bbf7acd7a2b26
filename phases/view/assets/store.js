/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers that the page carries: gzip in base64, unpacked into typed arrays. */

const ARRAY_TYPES = {
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float64: Float64Array,
};

async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** The header of the run with its arrays by name. */
async function readRun() {
  const run = JSON.parse(document.getElementById("run").textContent);
  const element = document.getElementById("numbers");
  const buffer = await unpacked(element.textContent);
  element.remove();
  const arrays = {};
  for (const { name, type, offset, length } of run.arrays) {
    arrays[name] = new ARRAY_TYPES[type](buffer, offset, length);
  }
  run.arrays = arrays;
  run.exact = run.group === 1;
  return run;
}
