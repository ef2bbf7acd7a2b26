/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exact distances from `kadence view --serve`, where the page came from it; else nothing is asked. */

const PATIENCE = 120; // milliseconds that a pointer must rest on a cell before it is asked for

const server = {
  waiting: undefined,

  ask(distances, left, right, then) {
    clearTimeout(this.waiting);
    const [low, high] = distances.pair(left, right);
    if (low === high || document.documentElement.dataset.served === undefined) {
      return;
    }
    this.waiting = setTimeout(async () => {
      const answer = await fetch(`pair?left=${left}&right=${right}`).catch(() => null);
      if (answer?.ok) {
        const { distance } = await answer.json();
        distances.served.set(left * distances.run.intervals + right, distance);
        then();
      }
    }, PATIENCE);
  },
};
