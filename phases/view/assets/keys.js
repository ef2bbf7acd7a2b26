/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The actions of keys while the figures have the focus. */

const FAR = 10; // cells that an arrow key with Shift moves the cursor

function keyActions(pointer) {
  const step = (event) => pointer.plots.cell * (event.shiftKey ? FAR : 1);
  const { intervals } = pointer.run;
  const boundary = (direction) => {
    const { assignment } = pointer.run.arrays;
    let at = pointer.right + direction;
    while (at > 0 && at < intervals && assignment[at] === assignment[at - 1]) {
      at += direction;
    }
    pointer.choose(pointer.left, at);
  };
  return {
    ArrowLeft: (event) => pointer.choose(pointer.left, Math.max(pointer.left, pointer.right - step(event))),
    ArrowRight: (event) => pointer.choose(pointer.left, pointer.right + step(event)),
    ArrowUp: (event) => pointer.choose(pointer.left - step(event), pointer.right),
    ArrowDown: (event) => pointer.choose(Math.min(pointer.right, pointer.left + step(event)), pointer.right),
    "+": () => pointer.zoom(0.5),
    "=": () => pointer.zoom(0.5),
    "-": () => pointer.zoom(2),
    0: () => pointer.whole(),
    n: () => boundary(1),
    p: () => boundary(-1),
    Enter: () => pointer.show(),
    Escape: () => hint.hide(),
  };
}

function listenToKeys(pointer) {
  const actions = keyActions(pointer);
  document.getElementById("figures").addEventListener("keydown", (event) => {
    const action = actions[event.key];
    if (action !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      action(event);
    }
  });
}
