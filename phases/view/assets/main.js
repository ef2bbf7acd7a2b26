/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the page's data, then creates and connects the parts of the page. */

function listenToControls(pointer) {
  const { plots } = pointer;
  const on = (name, event, action) => document.getElementById(name).addEventListener(event, action);
  const palettes = JSON.parse(document.getElementById("palettes").textContent);
  on("statistic", "change", ({ target }) => {
    plots.statistic = target.value;
    plots.refresh();
  });
  on("palette", "change", ({ target }) => plots.colours(palettes[target.value]));
  on("nearer", "click", () => pointer.zoom(0.5));
  on("farther", "click", () => pointer.zoom(2));
  on("whole", "click", () => pointer.whole());
  for (const button of document.querySelectorAll("button[data-interval]")) {
    button.addEventListener("click", () => {
      const interval = Number(button.dataset.interval);
      pointer.choose(interval, interval);
      pointer.show();
    });
  }
}

/** Adopts the page's colours again when the reader's system changes between light and dark, or
    when the page is printed, which is always light. */
function listenToColours(plots) {
  const adopt = () => plots.adopt();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", adopt);
  matchMedia("print").addEventListener("change", adopt);
  adopt();
}

async function main() {
  const run = await readRun();
  const item = JSON.parse(document.getElementById("item").textContent);
  const views = await Bokeh.embed.embed_item(item);
  const plots = new Plots(run, views.roots?.[0]?.model.document ?? Bokeh.documents[0]);
  const pointer = new Pointer(plots);
  plots.listeners.push(() => pointer.mark());
  listenToControls(pointer);
  listenToKeys(pointer);
  listenToColours(plots);
  plots.refresh();
  window.kadenceView = { run, plots, pointer };
  requestAnimationFrame(() => {
    document.documentElement.dataset.ready = performance.now().toFixed(0);
  });
}

main().catch((error) => {
  document.getElementById("said").textContent = `This page cannot be shown here: ${error.message}`;
  throw error;
});
