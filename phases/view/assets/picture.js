/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the plots' data for the visible part of the run: at most `MOST_CELLS` cells an axis. */

const MOST_CELLS = 480;

/** Returns the intervals that are visible along an axis: from `low` up to before `high`. */
function visibleSpan(range, intervals) {
  const low = Math.max(0, Math.floor(Math.min(range.start, range.end)));
  const high = Math.min(intervals, Math.ceil(Math.max(range.start, range.end)));
  return { low, high: Math.max(high, low + 1) };
}

function cellSize(...spans) {
  const widest = Math.max(...spans.map(({ low, high }) => high - low));
  return Math.ceil(widest / MOST_CELLS);
}

/** Returns the size of a cell, and the level whose tiles are the cells. The level is null if a
    cell shows the exact or bounded distance of its middle intervals. */
function grid(distances, columns, rows) {
  const size = cellSize(columns, rows);
  const { run } = distances;
  if (run.exact || size > run.group / 2) {
    const level = distances.level(size);
    return { size: level.size, level };
  }
  return { size, level: null };
}

/** Returns the middle interval of a cell, which stands for the others in the cell. */
function middleOf(run, cell, size) {
  return Math.min(cell * size + Math.floor(size / 2), run.intervals - 1);
}

function cellsOf(span, size, intervals) {
  const first = Math.floor(span.low / size);
  const last = Math.min(Math.ceil(span.high / size), Math.ceil(intervals / size));
  return { first, count: last - first };
}

/** Computes the cells row by row, as Bokeh's image requires. The lower triangle stays empty. */
function paint(distances, statistic, columns, rows) {
  const { run } = distances;
  const { size, level } = grid(distances, columns, rows);
  const across = cellsOf(columns, size, run.intervals);
  const down = cellsOf(rows, size, run.intervals);
  const values = new Float32Array(across.count * down.count).fill(NaN);
  const middle = (cell) => middleOf(run, cell, size);
  const value = level === null
    ? (row, column) => distances.shade(statistic, middle(row), middle(column))
    : (row, column) => level.at(statistic, row, column) / run.units;
  for (let y = 0; y < down.count; y += 1) {
    const row = down.first + y;
    for (let x = Math.max(0, row - across.first); x < across.count; x += 1) {
      values[y * across.count + x] = value(row, across.first + x);
    }
  }
  return { values, size, level, across, down };
}

/** Returns the sums of an array up to every position, so the sum of any part takes one step. */
function runningSums(values) {
  const sums = new Float64Array(values.length + 1);
  for (let position = 0; position < values.length; position += 1) {
    sums[position + 1] = sums[position] + values[position];
  }
  return sums;
}

class Timeline {
  constructor(run) {
    this.run = run;
    const { calls, bytes, instructions } = run.arrays;
    this.sums = {
      calls: runningSums(calls),
      bytes: runningSums(bytes),
      instructions: runningSums(instructions),
    };
  }

  edges(span) {
    const size = cellSize(span), edges = [];
    for (let at = Math.floor(span.low / size) * size; at < span.high; at += size) {
      edges.push(at);
    }
    return { size, edges };
  }

  /** Returns the calls or bytes per million instructions in each bin. */
  rates(name, span) {
    const { size, edges } = this.edges(span);
    const { intervals } = this.run;
    const ends = edges.map((edge) => Math.min(edge + size, intervals));
    const sum = (which, bin) => this.sums[which][ends[bin]] - this.sums[which][edges[bin]];
    const top = edges.map((_, bin) => (1e6 * sum(name, bin)) / Math.max(1, sum("instructions", bin)));
    return { left: edges, right: ends, top };
  }

  /** Returns how many instructions each phase has in a part of the run. */
  spent(first, end) {
    const { assignment, instructions } = this.run.arrays;
    const spent = new Float64Array(this.run.phases.length);
    for (let interval = first; interval < end; interval += 1) {
      spent[assignment[interval]] += instructions[interval];
    }
    return spent;
  }

  /** Returns the phase with the most instructions in a part of the run. */
  mostly(first, end) {
    const spent = this.spent(first, end);
    return spent.indexOf(Math.max(...spent));
  }

  /** Returns boxes that stack each bin's phases, as high as their shares of its instructions. */
  shares(span) {
    const { size, edges } = this.edges(span);
    const found = { left: [], right: [], bottom: [], top: [], phase: [] };
    for (const edge of edges) {
      const end = Math.min(edge + size, this.run.intervals);
      const spent = this.spent(edge, end);
      const whole = spent.reduce((sum, part) => sum + part, 0);
      let bottom = 0;
      spent.forEach((part, phase) => {
        if (part > 0) {
          this.stack(found, phase, edge, end, bottom, bottom + part / whole);
          bottom += part / whole;
        }
      });
    }
    return found;
  }

  /** Add a box. If it only continues the last box, widen the last box instead. */
  stack(found, phase, left, right, bottom, top) {
    const last = found.phase.length - 1;
    if (bottom === 0 && top === 1 && found.phase[last] === phase && found.bottom[last] === 0 &&
        found.top[last] === 1) {
      found.right[last] = right;
      return;
    }
    found.left.push(left);
    found.right.push(right);
    found.bottom.push(bottom);
    found.top.push(top);
    found.phase.push(phase);
  }

  /** Returns the pieces of the diagonal: each bin has the phase with the most of its instructions,
      and neighbouring bins of the same phase are joined. */
  diagonal(span) {
    const { size, edges } = this.edges(span);
    const found = [];
    for (const edge of edges) {
      const end = Math.min(edge + size, this.run.intervals);
      const phase = this.mostly(edge, end);
      const last = found[found.length - 1];
      if (last !== undefined && last.phase === phase) {
        last.end = end;
      } else {
        found.push({ phase, start: edge, end });
      }
    }
    return found;
  }

  /** Returns the stays in a phase that deserve a name: each phase's longest stay, then all stays
      of at least `least` intervals. */
  visits(span, least) {
    const { assignment } = this.run.arrays;
    const longest = new Map(), others = [];
    let start = span.low;
    for (let interval = span.low + 1; interval <= span.high; interval += 1) {
      const phase = assignment[start];
      if (interval === span.high || assignment[interval] !== phase) {
        const visit = { phase, start, end: interval, extent: interval - start };
        if (visit.extent > (longest.get(phase)?.extent ?? 0)) {
          longest.set(phase, visit);
        }
        if (visit.extent >= least) {
          others.push(visit);
        }
        start = interval;
      }
    }
    const byExtent = (a, b) => b.extent - a.extent;
    return [...longest.values()].sort(byExtent).concat(others.sort(byExtent));
  }

  /** Returns ticks where a marker fired, at most one in each bin. */
  ticks(span) {
    const found = { x: [], top: [], bottom: [], colour: [] };
    const size = cellSize(span);
    this.run.markers.forEach((marker, number) => {
      let bin = -1;
      for (const row of this.run.arrays[`markerRows${number}`]) {
        if (row >= span.low && row < span.high && Math.floor(row / size) !== bin) {
          bin = Math.floor(row / size);
          found.x.push(row + 0.5);
          found.top.push(number + 0.1);
          found.bottom.push(number + 0.9);
          found.colour.push(this.run.phases[marker.phase].colour);
        }
      }
    });
    return found;
  }
}

/** Places names beside the diagonal in order of importance. No name overlaps another name or the
    frame. */
function diagonalLabels(visits, phases, columns, pixelsPerInterval) {
  const LINE = 15, LONGEST = 96, placed = [];
  for (const { phase, start, end } of visits.filter((visit) => !phases[visit.phase].transition)) {
    const at = (start + end) / 2;
    const room = (at - columns.low) * pixelsPerInterval >= LONGEST &&
      (columns.high - at) * pixelsPerInterval >= LINE / 2;
    if (room && placed.every((other) => Math.abs(other.at - at) * pixelsPerInterval >= LINE)) {
      placed.push({ at, text: phases[phase].label });
    }
  }
  return { at: placed.map(({ at }) => at), text: placed.map(({ text }) => text) };
}

/** Returns the names in the strip of phases, where the boxes have room for them. */
function stripLabels(shares, phases, columns, pixelsPerInterval) {
  const WIDTH = 90;
  const found = { at: [], text: [], colour: [] };
  shares.phase.forEach((phase, box) => {
    const low = Math.max(shares.left[box], columns.low);
    const high = Math.min(shares.right[box], columns.high);
    if ((high - low) * pixelsPerInterval >= WIDTH && shares.top[box] - shares.bottom[box] === 1) {
      found.at.push((low + high) / 2);
      found.text.push(phases[phase].label);
      found.colour.push(phases[phase].textColour);
    }
  });
  return found;
}
