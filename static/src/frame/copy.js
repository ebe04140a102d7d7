// Copy buttons: data-copy holds the whole value, the glyph says that it worked.
import { announce, setIcon } from "./page.js";

const SHOWN_FOR = 1_500;

function copyByHand(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

/** Copy a text; true if the browser took it. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByHand(text); // plain HTTP on another host, or the permission refused
  }
}

async function onClick(event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const done = await copyText(button.dataset.copy);
  announce(done ? "Copied" : "The browser refused to copy");
  if (!done) return;
  setIcon(button, "g-done");
  setTimeout(() => setIcon(button, "copy"), SHOWN_FOR);
}

export function startCopy() {
  document.addEventListener("click", onClick);
}
