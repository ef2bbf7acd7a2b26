/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hint beside the pointer, the line of text on the cursor, and the blocks of two intervals. */

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const hint = {
  show(lines, x, y) {
    const box = document.getElementById("hint");
    box.replaceChildren(...lines.filter(Boolean).map((line) => element("div", {}, line)));
    box.hidden = false;
    const right = Math.min(x + 16, window.innerWidth - box.offsetWidth - 8);
    const below = y + 18 + box.offsetHeight < window.innerHeight;
    box.style.left = `${Math.max(8, right)}px`;
    box.style.top = `${below ? y + 18 : y - box.offsetHeight - 12}px`;
  },
  hide() {
    document.getElementById("hint").hidden = true;
  },
};

function say(lines) {
  document.getElementById("said").textContent = lines.filter(Boolean).join("; ");
}

function fileName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

function blockRow(run, position) {
  const block = run.arrays.hotBlocks[position];
  if (block === 0) {
    return null;
  }
  const [name, file, line, text, object, address] = run.blocks[block - 1];
  const share = inPercent(run.arrays.hotShares[position] / run.shareUnits);
  const place = file ? `${fileName(file)}:${line}` : `${fileName(object)} ${address}`;
  const row = element("tr", {},
    element("td", { className: "number" }, share),
    element("td", {}, element("code", {}, name)),
    element("td", { title: file || object }, place));
  if (text) {
    row.lastChild.append(element("div", { className: "source" }, element("code", {}, text)));
  }
  return row;
}

function blockTable(run, interval) {
  const perInterval = run.arrays.hotBlocks.length / run.intervals;
  const rows = Array.from({ length: perInterval }, (_, number) =>
    blockRow(run, interval * perInterval + number));
  const { instructions, calls, bytes } = run.arrays;
  const caption = element("caption", {}, intervalWords(run, interval), element("br"),
    workWords(run, instructions[interval], calls[interval], bytes[interval]));
  const head = element("tr", {}, ...["share", "function", "source line"].map((title) =>
    element("th", { scope: "col" }, title)));
  return element("table", { className: "blocks" }, caption,
    element("thead", {}, head), element("tbody", {}, ...rows.filter(Boolean)));
}

/** Show the hottest blocks of both intervals, side by side. */
function showCell(distances, left, right) {
  const { run } = distances;
  const place = document.getElementById("cell");
  place.replaceChildren(
    element("p", { className: "distance" }, distanceWords(distances, left, right)),
    element("div", { className: "pair" }, blockTable(run, left), blockTable(run, right)));
  place.dataset.left = left;
  place.dataset.right = right;
}
