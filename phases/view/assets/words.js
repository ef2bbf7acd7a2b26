/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page's texts on cells, intervals and bins. */

const grouped = (number) => number.toLocaleString("en-US", { maximumFractionDigits: 0 });
const inDistance = (number) => number.toFixed(4);
const inPercent = (share) => `${(100 * share).toFixed(2)} %`;

function intervalWords(run, interval) {
  const phase = run.arrays.assignment[interval];
  const thread = run.threads > 1 ? `, thread ${run.arrays.thread[interval]}` : "";
  return `interval ${grouped(interval)} (${run.phases[phase].name}${thread})`;
}

function workWords(run, instructions, calls, bytes) {
  const asked = run.kernelSeen
    ? `${grouped(calls)} system calls, ${grouped(bytes)} bytes moved`
    : "system calls not seen";
  return `${grouped(instructions)} instructions, ${asked}`;
}

/** Returns the text on a pair's distance: exact, or its bounds. */
function distanceWords(distances, left, right) {
  const [low, high] = distances.pair(left, right);
  if (low === high) {
    const asked = distances.asked(left, right) !== undefined;
    return `distance ${inDistance(low)}, exact${asked ? " (computed when asked)" : ""}`;
  }
  return `distance between ${inDistance(low)} and ${inDistance(high)} ` +
    "(bounds by the triangle inequality)";
}

/** Returns the text on the painted tile that contains the pair. */
function tileWords(distances, level, left, right) {
  if (level === null || level.size === 1) {
    return "";
  }
  const { run } = distances;
  const names = [left, right].map((interval) => {
    const first = Math.floor(interval / level.size) * level.size;
    return `${grouped(first)}–${grouped(Math.min(first + level.size, run.intervals) - 1)}`;
  });
  const [least, mean, greatest] = distances.tile(level, left, right).map(inDistance);
  const looked = run.exact ? "over all pairs" : "over sampled pairs";
  return `tile of intervals ${names[0]} and ${names[1]}: ` +
    `least ${least}, mean ${mean}, greatest ${greatest} ${looked}`;
}

function binWords(run, timeline, first, end) {
  const sum = (name) => timeline.sums[name][end] - timeline.sums[name][first];
  const phase = timeline.mostly(first, end);
  const which = end - first === 1
    ? intervalWords(run, first)
    : `intervals ${grouped(first)}–${grouped(end - 1)}, mostly ${run.phases[phase].name}`;
  return [
    which,
    workWords(run, sum("instructions"), sum("calls"), sum("bytes")),
  ];
}

/** Returns texts that say which markers fired, and how often, from interval `first` up to before
    `end`. */
function markerWords(run, first, end) {
  return run.markers.flatMap((marker, number) => {
    const rows = run.arrays[`markerRows${number}`], fires = run.arrays[`markerFires${number}`];
    let sum = 0;
    rows.forEach((row, position) => {
      sum += row >= first && row < end ? fires[position] : 0;
    });
    const what = marker.planned ? "marker" : "candidate marker";
    return sum ? [`${what} of phase ${marker.phase}, ${marker.place}: fired ${grouped(sum)} times`] : [];
  });
}
