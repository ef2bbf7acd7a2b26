/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person does with the page. */
const SHORTEST_VIEW = 20;
const told = document.getElementById("told");
const chosen = document.getElementById("chosen");
const nameField = document.getElementById("name");
let isAsked = false;
let totalTimer = 0;

function repaint() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => {
    isAsked = false;
    painting.paint();
  });
}

function show(from, to) {
  const length = store.header.length || 1;
  const wide = Math.min(Math.max(to - from, SHORTEST_VIEW), length);
  const left = Math.min(Math.max(from, 0), length - wide);
  painting.view = { from: left, to: left + wide };
  repaint();
  clearTimeout(totalTimer);
  totalTimer = setTimeout(tellTotal, 150);
}

function zoom(factor, around) {
  const { from, to } = painting.view;
  show(around - (around - from) * factor, around + (to - around) * factor);
}

function move(share) {
  const { from, to } = painting.view;
  const by = (to - from) * share;
  show(from + by, to + by);
}

function tellTotal() {
  const label = painting.chosen;
  chosen.textContent = label < 0 ? "" : words.total(label, painting.view);
}

function choose(label) {
  painting.chosen = label;
  nameField.value = label < 0 ? "" : store.header.labels[label];
  tellTotal();
  repaint();
}

/* To the next span of the chosen name, or the previous one, by the middle of the view. */
function step(forward) {
  const middle = (painting.view.from + painting.view.to) / 2;
  let best = null;
  for (const lane of store.lanes) {
    let i = store.firstAbove(lane.begins, middle) - (forward ? 0 : 1);
    for (; i >= 0 && i < lane.count; i += forward ? 1 : -1) {
      const centre = (lane.begins[i] + lane.ends[i]) / 2;
      const isFurther = forward ? centre > middle + 0.5 : centre < middle - 0.5;
      if (!isFurther || (painting.chosen >= 0 && lane.labels[i] !== painting.chosen)) continue;
      if (!best || (forward ? centre < best.centre : centre > best.centre)) best = { lane, i, centre };
      break;
    }
  }
  if (!best) return;
  const half = (painting.view.to - painting.view.from) / 2;
  show(best.centre - half, best.centre + half);
  told.textContent = words.span(best.lane, best.i);
}

function under(event) {
  const box = painting.canvas.getBoundingClientRect();
  const x = event.clientX - box.left;
  const row = painting.rowAt(event.clientY - box.top);
  const time = painting.time(x);
  if (!row || x < painting.LEFT) return { time };
  const i = store.at(row.lane, time);
  return i < 0 ? { time } : { time, lane: row.lane, i };
}

let drag = null;

function listen() {
  const { canvas } = painting;
  canvas.addEventListener("wheel", (event) => {
    if (event.shiftKey) move(Math.sign(event.deltaY || event.deltaX) * 0.1);
    else zoom(1.0018 ** event.deltaY, under(event).time);
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, moved: false, view: painting.view,
      top: painting.scroll.scrollTop };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) return dragTo(event);
    const found = under(event);
    told.textContent = found.lane ? words.span(found.lane, found.i) : words.time(found.time);
  });
  canvas.addEventListener("pointerup", (event) => {
    const found = under(event);
    if (drag && !drag.moved) choose(found.lane ? found.lane.labels[found.i] : -1);
    drag = null;
  });
  canvas.addEventListener("keydown", press);
  painting.scroll.addEventListener("scroll", repaint);
  nameField.addEventListener("change", () => choose(store.header.labels.indexOf(nameField.value)));
  document.getElementById("next").addEventListener("click", () => step(true));
  document.getElementById("previous").addEventListener("click", () => step(false));
  document.getElementById("whole").addEventListener("click", () => show(0, store.header.length));
  window.addEventListener("resize", fit);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
}

function dragTo(event) {
  const dx = event.clientX - drag.x;
  if (Math.abs(dx) + Math.abs(event.clientY - drag.y) > 3) drag.moved = true;
  const by = (dx / painting.width()) * (drag.view.to - drag.view.from);
  painting.scroll.scrollTop = drag.top - (event.clientY - drag.y);
  show(drag.view.from - by, drag.view.to - by);
}

function press(event) {
  const middle = (painting.view.from + painting.view.to) / 2;
  const actions = {
    ArrowLeft: () => move(-0.1),
    ArrowRight: () => move(0.1),
    "+": () => zoom(0.5, middle),
    "=": () => zoom(0.5, middle),
    "-": () => zoom(2, middle),
    0: () => show(0, store.header.length),
    n: () => step(true),
    p: () => step(false),
  };
  if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  actions[event.key]();
  event.preventDefault();
}

function fit() {
  painting.lay();
  painting.resize();
  repaint();
}

async function begin() {
  await store.load();
  const names = document.getElementById("names");
  for (const label of store.header.labels) names.append(new Option(label));
  listen();
  fit();
  show(0, store.header.length);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    window.kadenceTimeline = { store, painting, show, choose, step };
    document.documentElement.dataset.ready = performance.now();
  }));
}

begin();
