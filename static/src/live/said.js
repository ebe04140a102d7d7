// What the message box said of a message goes when its turn has ended, or with the next word.

const ENDS = new Set(["turn/completed", "turn/failed", "turn/cancelled"]);
const ended = new Set();

const note = () => document.querySelector("#composer [data-said]");

function clear() {
  const said = note();
  if (said && ended.has(said.dataset.said)) said.remove();
}

/** A turn that ends while its answer is still on the way takes that one's word, too. */
export function turnEnded(event) {
  if (!ENDS.has(event.type)) return;
  ended.add(event.turn_id);
  clear();
}

export function startSaid() {
  document.addEventListener("htmx:after:swap", clear);
  document.addEventListener("input", ({ target }) => target.id === "message-text" && note()?.remove());
}
