// The key table. A key acts on what the page marks: data-key, data-go, data-query, data-rows.
import { tinykeys } from "tinykeys";
import { step } from "./changes.js";
import { copyText } from "./copy.js";
import { announce } from "./page.js";
import { getCookie, setCookie } from "./theme.js";

const FIELD = 'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]';
const MARKED = ["f", "p", "i", "c", "a", "d", "t", "m"];

function off(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  if (getCookie("keys") === "off" || document.querySelector("dialog:modal")) return true;
  return event.target instanceof Element && event.target.closest(FIELD) !== null;
}

function usable(element) {
  return element && element.checkVisibility() && element.getAttribute("aria-disabled") !== "true";
}

function press(selector) {
  const found = [...document.querySelectorAll(selector)].find(usable);
  if (!found) return;
  if (found.matches("input, textarea")) found.focus();
  else if (found.matches("summary")) {
    found.click();
    found.focus();
  } else found.click();
}

function rows() {
  const list = document.querySelector("[data-rows]");
  return list ? [...list.querySelectorAll("[data-row]")] : [];
}

/** Select a row: tint, accent bar, and the focus on its link. */
function move(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.getAttribute("aria-selected") === "true");
  const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + step))];
  for (const row of all) row.setAttribute("aria-selected", String(row === next));
  next.querySelector("a")?.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

async function permalink() {
  const url = document.querySelector("[data-permalink]")?.dataset.permalink ?? location.href;
  if (await copyText(new URL(url, location.href).href)) announce("Link copied");
}

function sheet() {
  const dialog = document.getElementById("keys");
  if (dialog?.open) dialog.close();
  else dialog?.showModal();
}

function bindings() {
  const table = {};
  // Sequences first: the first binding that fits takes the key.
  for (const link of document.querySelectorAll("[data-go]")) {
    table[`g ${link.dataset.go}`] = () => link.click();
  }
  Object.assign(table, {
    "/": () => press("[data-query]"),
    j: () => move(1),
    k: () => move(-1),
    n: () => step(1),
    "Shift+N": () => step(-1),
    y: permalink,
    "?": sheet,
    "Shift+?": sheet,
  });
  for (const key of MARKED) table[key] = () => press(`[data-key="${key}"]`);
  for (let n = 1; n <= 7; n += 1) table[n] = () => press(`[data-tabs] a:nth-of-type(${n})`);
  return Object.fromEntries(Object.entries(table).map(([key, work]) => [key, acting(work)]));
}

function acting(work) {
  return (event) => {
    event.preventDefault();
    work();
  };
}

export function startKeys() {
  tinykeys(window, bindings(), { ignore: off });
  const toggle = document.querySelector("[data-keys-switch]");
  if (!toggle) return;
  toggle.checked = getCookie("keys") !== "off";
  toggle.addEventListener("change", () => setCookie("keys", toggle.checked ? "on" : "off"));
}
