// Times: ages kept current, and a moment in the page's zone.

const NBSP = "\u00a0";
const UNITS = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
];

/** Say an age as the server does: 42 s, 18 min, 3 h, 2 d. */
export function ageText(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  for (const [size, unit] of UNITS) {
    if (seconds >= size) return `${Math.floor(seconds / size)}${NBSP}${unit}`;
  }
  return `${seconds}${NBSP}s`;
}

function format(options) {
  const base = { hourCycle: "h23", ...options };
  try {
    return new Intl.DateTimeFormat("en-GB", { ...base, timeZone: document.body.dataset.zone });
  } catch {
    return new Intl.DateTimeFormat("en-GB", { ...base, timeZone: "UTC" });
  }
}

const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
let millis;
let zoned;

/** The time of day to the millisecond, for a row under a head that names the zone. */
export function timeOfDay(iso) {
  millis ??= format({ ...clock, fractionalSecondDigits: 3 });
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? "" : millis.format(at).replace(",", ".");
}

/** The time of day with its zone. */
export function timeWithZone(date) {
  zoned ??= format({ ...clock, timeZoneName: "short" });
  return zoned.format(date);
}

function refresh() {
  if (document.hidden) return;
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-age]")) {
    const at = Date.parse(time.dateTime);
    const text = ageText(now - at);
    if (!Number.isNaN(at) && time.textContent !== text) time.textContent = text;
  }
}

export function startAges() {
  setInterval(refresh, 5_000);
  document.addEventListener("visibilitychange", refresh);
}
