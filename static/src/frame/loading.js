// Waiting for a fragment: old rows stay; dimmed after 150 ms, with elapsed time and Cancel after 2 s.
import htmx from "./htmx.js";
import { icon, make } from "./page.js";

const DIM_AFTER = 150;
const SAY_AFTER = 2_000;
const waiting = new WeakMap();

function line(source, started) {
  const text = document.createTextNode("");
  const cancel = make("button", { type: "button", class: "btn quiet" }, "Cancel");
  cancel.addEventListener("click", () => htmx.trigger(source, "htmx:abort"));
  const state = make("span", { class: "st live" }, icon("g-live"), text);
  const element = make("p", { class: "loading-line" }, state, cancel);
  const tick = () => {
    text.data = `Loading, ${((performance.now() - started) / 1000).toFixed(1)} s`;
  };
  tick();
  return { element, timer: setInterval(tick, 500) };
}

function begin(event) {
  const { sourceElement, target } = event.detail.ctx;
  const area = target?.closest?.("[data-loading]");
  if (!area) return;
  const started = performance.now();
  const wait = { area, shown: null };
  wait.dim = setTimeout(() => area.classList.add("old"), DIM_AFTER);
  wait.say = setTimeout(() => {
    wait.shown = line(sourceElement, started);
    area.before(wait.shown.element);
  }, SAY_AFTER);
  waiting.set(event.detail.ctx, wait);
}

function end(event) {
  const wait = waiting.get(event.detail.ctx);
  if (!wait) return;
  waiting.delete(event.detail.ctx);
  clearTimeout(wait.dim);
  clearTimeout(wait.say);
  wait.area.classList.remove("old");
  if (!wait.shown) return;
  clearInterval(wait.shown.timer);
  wait.shown.element.remove();
}

export function startLoading() {
  document.addEventListener("htmx:before:request", begin);
  document.addEventListener("htmx:finally:request", end);
}
