// The action dialog: a link with data-dialog opens its page's fragment as a modal; the answer either
// is the dialog again (an error, a newer version: the draft is in it) or closes it.
import htmx from "./htmx.js";
import { announce, reasonOf, reveal } from "./page.js";

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

const forSlot = (ctx) => ctx.target?.id === "dialog-slot";
const hasDialog = (ctx) => /<dialog[\s>]/.test(ctx.text ?? "");

/** An error page is no dialog: say what happened where the draft is. */
function beforeSwap(event) {
  const { ctx } = event.detail;
  if (!forSlot(ctx) || hasDialog(ctx) || !(ctx.response?.status >= 400)) return;
  event.preventDefault();
  const request = ctx.response.headers.get("X-Trace-Id");
  const why = reasonOf(ctx.text) || `The server answered ${ctx.response.status}.`;
  fail(`${why} Nothing was changed. Request ${request ?? "unknown"}.`);
}

function onSwap(event) {
  const { ctx } = event.detail;
  if (!forSlot(ctx)) return;
  if (hasDialog(ctx)) show();
  else slot().querySelector("dialog[open]")?.close();
}

function onFailure(event) {
  const { ctx } = event.detail;
  if (ctx && forSlot(ctx)) {
    fail("The server could not be reached. Nothing was changed; what you wrote is still here.");
  }
}

function fail(text) {
  const content = slot().querySelector("dialog .content");
  announce(text);
  if (!content) return;
  let note = content.querySelector("[data-failure]");
  if (!note) {
    note = document.createElement("p");
    note.className = "note bad";
    note.dataset.failure = "";
    note.setAttribute("role", "alert");
    content.prepend(note);
  }
  note.textContent = text;
  note.scrollIntoView({ block: "nearest" });
}

export function startDialogs() {
  document.addEventListener("click", onClick);
  document.addEventListener("htmx:before:swap", beforeSwap);
  document.addEventListener("htmx:after:swap", onSwap);
  document.addEventListener("htmx:error", onFailure);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-keys-open]")) document.getElementById("keys")?.showModal();
  });
}
