// The badges of the frame: how many questions wait, counted again when something has happened.

const REST = 3_000;
const EVERY = 30_000;

let last = 0;
let timer = null;

function show(count) {
  for (const number of document.querySelectorAll("[data-count-now]")) number.textContent = count.toLocaleString("en");
  for (const badge of document.querySelectorAll("[data-count-approvals]")) {
    badge.hidden = count === 0;
    for (const number of badge.matches("[data-number]") ? [badge] : badge.querySelectorAll("[data-number]")) {
      number.textContent = count.toLocaleString("en");
    }
    if (badge.hasAttribute("aria-label")) badge.setAttribute("aria-label", `${count} approvals waiting`);
  }
}

async function count() {
  timer = null;
  last = performance.now();
  if (document.hidden) return;
  const url = document.querySelector("[data-count-url]")?.dataset.countUrl;
  if (!url) return;
  try {
    const answer = await fetch(url, { headers: { Accept: "application/json" } });
    if (answer.ok && answer.headers.get("Content-Type")?.includes("json")) show((await answer.json()).approvals);
  } catch {
    // The next look may find the server again; the page says by itself that it is away.
  }
}

/** Something has happened that may have changed the counts; a burst of it is looked at once. */
export function countAgain() {
  timer ??= setTimeout(count, Math.max(0, last + REST - performance.now()));
}

export function startCounts() {
  last = performance.now();
  document.addEventListener("htmx:after:swap", countAgain);
  document.addEventListener("visibilitychange", countAgain);
  setInterval(countAgain, EVERY);
}
