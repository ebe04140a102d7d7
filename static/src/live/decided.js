// The inbox: when the question that is open was decided elsewhere, its card says so in place.
import htmx from "../frame/htmx.js";

/** Look at the card again once its row is gone from what waits. */
function look({ target }) {
  const card = document.querySelector("#card [data-asked]");
  if (!card || target.id !== "inbox" || card.dataset.open === undefined) return;
  const row = document.getElementById(card.dataset.asked);
  if (row && !row.querySelector(".gone")) return;
  htmx.ajax("GET", card.dataset.url, { source: card, target: "#card", swap: "innerHTML", select: "#card > *" });
}

export function startInbox() {
  document.addEventListener("fleet:shown", look);
}
