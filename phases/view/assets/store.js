/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unpacks the page's numbers, which are gzip in base64, into typed arrays. */

const ARRAY_TYPES = {
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float64: Float64Array,
};

function bytesOf(base64) {
  if (Uint8Array.fromBase64 !== undefined) {
    return Uint8Array.fromBase64(base64);
  }
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let position = 0; position < text.length; position += 1) {
    bytes[position] = text.charCodeAt(position);
  }
  return bytes;
}

async function unpacked(base64) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** Returns the header of the run with its arrays by name. */
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
