/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests exact distances if the page came from `kadence view --serve`; otherwise does nothing. */

const PATIENCE = 120; // milliseconds without a change before the page sends a request

const server = {
  waitingForPair: undefined,
  waitingForCells: undefined,

  get absent() {
    return document.documentElement.dataset.served === undefined;
  },

  /** Returns the server's answer, or null if the request fails. */
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

  /** If the picture shows single intervals, request their exact distances and paint them. */
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
