// A strip of tabs that is wider than the page begins where the current tab can be seen.

function show(strip) {
  const current = strip.querySelector("[aria-current]");
  if (!current || strip.scrollWidth <= strip.clientWidth) return;
  const frame = strip.getBoundingClientRect();
  const tab = current.getBoundingClientRect();
  if (tab.left >= frame.left && tab.right <= frame.right) return;
  // Never `scrollIntoView`: that would move the page as well.
  strip.scrollLeft += tab.left + tab.width / 2 - (frame.left + frame.width / 2);
}

export function startTabs() {
  const all = () => document.querySelectorAll("[data-tabs], .views").forEach(show);
  all();
  document.addEventListener("htmx:after:swap", all);
}
