// Stepping through the changes of a comparison: two buttons, and `n` and `N`.
import { announce } from "./page.js";

function places() {
  return [...document.querySelectorAll("[data-change-at]")];
}

/** Go to the next change, or to the previous one; at the end it stays. */
export function step(by) {
  const all = places();
  if (!all.length) return;
  const at = all.indexOf(document.activeElement?.closest("[data-change-at]"));
  const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by))];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start" });
  announce(`Change ${all.indexOf(next) + 1} of ${all.length}: ${next.getAttribute("aria-label")}`);
}

export function startChanges() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-change]");
    if (button) step(Number(button.dataset.change));
  });
}
