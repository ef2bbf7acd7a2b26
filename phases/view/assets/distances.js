/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distances of pairs and of tiles, computed from the page's numbers.

   A level is the matrix cut into tiles of equal size. The page stores the finest level. Each
   coarser level is made from the next finer one when it is first needed: its least is the least of
   the least distances, its mean the mean of the means weighted by their numbers of pairs, and its
   greatest the greatest of the greatest distances. */

const STATISTICS = ["least", "mean", "greatest"];

/** Position of (row, column), row <= column, in an upper triangle of `count` rows. */
function trianglePosition(count, row, column) {
  return row * count - (row * (row - 1)) / 2 + column - row;
}

class Level {
  constructor(size, count, values) {
    this.size = size;
    this.count = count;
    this.values = values;
  }

  at(statistic, row, column) {
    const position = row <= column
      ? trianglePosition(this.count, row, column)
      : trianglePosition(this.count, column, row);
    return this.values[statistic][position];
  }
}

/** Exact distances of the middle intervals of a grid of cells. */
class Cells {
  constructor(run, { size, across, down }, values) {
    Object.assign(this, { run, size, across, down, values });
  }

  at(left, right) {
    const row = this.position(left, this.down), column = this.position(right, this.across);
    return row === undefined || column === undefined
      ? undefined
      : this.values[row * this.across.count + column] / this.run.units;
  }

  /** Returns the index of the cell whose middle is this interval, or undefined. */
  position(interval, { first, count }) {
    const cell = Math.floor(interval / this.size);
    const inside = cell >= first && cell < first + count;
    return inside && middleOf(this.run, cell, this.size) === interval ? cell - first : undefined;
  }
}

class Distances {
  constructor(run) {
    this.run = run;
    this.pairs = new Map(); // distances from the server, by position in the whole matrix
    this.cells = null; // the part of the matrix that the server sent last
    const count = Math.ceil(run.intervals / run.group);
    const { mean, least = mean, greatest = mean } = run.arrays;
    this.levels = [new Level(run.group, count, { least, mean, greatest })];
  }

  /** Returns the finest level whose tiles have at least `size` intervals along a side. */
  level(size) {
    let number = 0;
    while (this.run.group * 2 ** number < size) {
      number += 1;
      if (number === this.levels.length) {
        this.levels.push(this.coarser(this.levels[number - 1]));
      }
    }
    return this.levels[number];
  }

  coarser(fine) {
    const count = Math.ceil(fine.count / 2);
    const length = (count * (count + 1)) / 2;
    const values = {
      least: new Float32Array(length),
      mean: new Float32Array(length),
      greatest: new Float32Array(length),
    };
    let position = 0;
    for (let row = 0; row < count; row += 1) {
      for (let column = row; column < count; column += 1) {
        this.join(fine, row, column, values, position);
        position += 1;
      }
    }
    return new Level(fine.size * 2, count, values);
  }

  join(fine, row, column, values, position) {
    let least = Infinity, greatest = 0, sum = 0, pairs = 0;
    const lastRow = Math.min(2 * row + 2, fine.count);
    const lastColumn = Math.min(2 * column + 2, fine.count);
    for (let a = 2 * row; a < lastRow; a += 1) {
      for (let b = 2 * column; b < lastColumn; b += 1) {
        const weight = this.groupSize(fine, a) * this.groupSize(fine, b);
        least = Math.min(least, fine.at("least", a, b));
        greatest = Math.max(greatest, fine.at("greatest", a, b));
        sum += weight * fine.at("mean", a, b);
        pairs += weight;
      }
    }
    values.least[position] = least;
    values.mean[position] = sum / pairs;
    values.greatest[position] = greatest;
  }

  groupSize(level, number) {
    return Math.min(level.size, this.run.intervals - number * level.size);
  }

  /** Returns the least, mean and greatest distance of the tile that contains the pair. */
  tile(level, left, right) {
    const row = Math.floor(left / level.size), column = Math.floor(right / level.size);
    return STATISTICS.map((statistic) => level.at(statistic, row, column) / this.run.units);
  }

  /** Returns bounds of a pair's distance. They are equal if the exact distance is known. */
  pair(left, right) {
    const { run } = this;
    if (left === right) {
      return [0, 0];
    }
    const known = this.asked(left, right);
    if (known !== undefined) {
      return [known, known];
    }
    const [low, high] = run.exact ? this.stored(left, right) : this.bounds(left, right);
    return [low / run.units, high / run.units];
  }

  /** Returns the distance that the server sent for a pair, or undefined. */
  asked(left, right) {
    return this.pairs.get(left * this.run.intervals + right) ?? this.cells?.at(left, right);
  }

  stored(left, right) {
    const found = this.levels[0].at("mean", left, right);
    return [found, found];
  }

  /** Returns bounds by the triangle inequality, over the tile's samples and over every landmark. */
  bounds(left, right) {
    const { run } = this;
    const { landmarkDistances, reach } = run.arrays;
    const count = run.landmarks.length;
    const row = Math.floor(left / run.group), column = Math.floor(right / run.group);
    const tile = this.levels[0], slack = reach[row] + reach[column];
    let low = Math.max(0, tile.at("least", row, column) - slack);
    let high = Math.min(2 * run.units, tile.at("greatest", row, column) + slack);
    for (let number = 0; number < count; number += 1) {
      const first = landmarkDistances[left * count + number];
      const second = landmarkDistances[right * count + number];
      if (run.landmarks[number] === left || run.landmarks[number] === right) {
        return [first + second, first + second];
      }
      // Each of the two distances was rounded by at most half a unit.
      low = Math.max(low, Math.abs(first - second) - 1);
      high = Math.min(high, first + second + 1);
    }
    return [low, high];
  }

  /** Returns the distance to paint for a pair: a bound for "least" and "greatest"; for "mean" the
      mean of its tile, or the nearer bound if the mean is outside the bounds. */
  shade(statistic, left, right) {
    const [low, high] = this.pair(left, right);
    if (statistic === "least") {
      return low;
    }
    return statistic === "greatest"
      ? high
      : Math.min(high, Math.max(low, this.tile(this.levels[0], left, right)[1]));
  }
}
