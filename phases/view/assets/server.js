/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exact distances from `kadence view --serve`, where the page came from it; else nothing is asked. */

const PATIENCE = 120; // milliseconds that nothing must change before something is asked for

const server = {
  waitingForPair: undefined,
  waitingForCells: undefined,

  get absent() {
    return document.documentElement.dataset.served === undefined;
  },

  /** The answer, or null where there is none. */
  async fetch(path) {
    const answer = await fetch(path).catch(() => null);
    return answer?.ok ? answer : null;
  },

  ask(distances, left, right, then) {
    clearTimeout(this.waitingForPair);
    const [low, high] = distances.pair(left, right);
    if (low === high || this.absent) {
      return;
    }
    this.waitingForPair = setTimeout(async () => {
      const answer = await this.fetch(`pair?left=${left}&right=${right}`);
      if (answer !== null) {
        const { distance } = await answer.json();
        distances.pairs.set(left * distances.run.intervals + right, distance);
        then();
      }
    }, PATIENCE);
  },

  /** Where single intervals are painted, paint them exactly once the answer is there. */
  askCells(plots, { size, level, across, down }) {
    clearTimeout(this.waitingForCells);
    const { distances } = plots;
    const same = ({ first, count }, other) => first === other.first && count === other.count;
    const known = distances.cells?.size === size && same(across, distances.cells.across) &&
      same(down, distances.cells.down);
    if (level !== null || known || this.absent) {
      return;
    }
    this.waitingForCells = setTimeout(async () => {
      const answer = await this.fetch(`cells?size=${size}&row=${down.first}&rows=${down.count}` +
        `&column=${across.first}&columns=${across.count}`);
      if (answer !== null) {
        const values = new Uint16Array(await answer.arrayBuffer());
        distances.cells = new Cells(distances.run, { size, across, down }, values);
        plots.refresh();
      }
    }, PATIENCE);
  },
};
