// The action dialog: a link with data-dialog opens its page's fragment as a modal; the answer either
// is the dialog again (an error, a newer version: the draft is in it) or closes it.
import htmx from "./htmx.js";
import { announce, reveal } from "./page.js";

let opener = null;

function slot() {
  return document.getElementById("dialog-slot");
}

function focusBack() {
  const back = opener?.isConnected ? opener : opener?.id && document.getElementById(opener.id);
  (back || document.getElementById("main"))?.focus?.();
  opener = null;
}

function show() {
  const dialog = slot().querySelector("dialog");
  if (!dialog || dialog.open) return;
  reveal(dialog);
  dialog.addEventListener("close", () => {
    slot().replaceChildren();
    focusBack();
  });
  dialog.showModal();
  const wrong = dialog.querySelector('[aria-invalid="true"]') ?? dialog.querySelector("[autofocus]");
  wrong?.focus();
}

/** Open a dialog fragment; without an answer the link's own page still works. */
export async function openDialog(url, from) {
  opener = from;
  await htmx.ajax("GET", url, { source: slot(), target: "#dialog-slot", swap: "innerHTML" });
  if (!slot().querySelector("dialog")) location.assign(url);
}

function onClick(event) {
  const plain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey);
  const link = event.target.closest("a[data-dialog], button[data-dialog]");
  if (link && plain && link.getAttribute("aria-disabled") !== "true") {
    event.preventDefault();
    openDialog(link.dataset.dialog || link.href, link);
    return;
  }
  const closer = event.target.closest("[data-close]");
  const dialog = closer?.closest("dialog:modal");
  if (dialog) {
    event.preventDefault();
    dialog.close();
  }
  const fill = event.target.closest("[data-fill]");
  if (fill) fillField(fill);
}

function fillField(button) {
  const field = document.getElementById(button.dataset.fill);
  if (!field) return;
  const text = button.textContent.trim();
  field.value = field.value.trim() ? `${field.value.trim()}. ${text}` : text;
  field.focus();
}

function onSwap(event) {
  if (event.detail.ctx.target?.id !== "dialog-slot" && !slot()?.querySelector("dialog:not([open])")) return;
  if (slot().querySelector("dialog")) show();
  else if (opener) focusBack();
}

function onFailure(event) {
  const form = event.detail.ctx?.sourceElement?.closest?.("dialog form");
  if (!form) return;
  const text = "The server could not be reached. Nothing was changed; what you wrote is still here.";
  let note = form.querySelector("[data-failure]");
  if (!note) {
    note = document.createElement("p");
    note.className = "note bad";
    note.dataset.failure = "";
    note.setAttribute("role", "alert");
    form.querySelector(".content").prepend(note);
  }
  note.textContent = text;
  announce(text);
}

export function startDialogs() {
  document.addEventListener("click", onClick);
  document.addEventListener("htmx:after:swap", onSwap);
  document.addEventListener("htmx:error", onFailure);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-keys-open]")) document.getElementById("keys")?.showModal();
  });
}
