// Theme, density and zone: set at once here, kept in cookies that the server renders from.

const YEAR = 365 * 24 * 3600;

export function setCookie(name, value) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=${YEAR}; SameSite=Lax${secure}`;
}

export function getCookie(name) {
  const found = document.cookie.split("; ").find((part) => part.startsWith(`${name}=`));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
}

function apply(name, value) {
  const root = document.documentElement;
  const shown = name === "theme" ? value !== "system" : value === "comfortable";
  if (shown) root.setAttribute(`data-${name}`, value);
  else root.removeAttribute(`data-${name}`);
}

function choose(event) {
  const button = event.submitter;
  if (button?.name !== "theme" && button?.name !== "density") return;
  event.preventDefault();
  setCookie(button.name, button.value);
  apply(button.name, button.value);
  // The same choice may stand on the page twice: in the menu and in the profile.
  for (const other of document.querySelectorAll(`[data-preferences] [name="${button.name}"]`)) {
    if (other.value === button.value) other.setAttribute("aria-pressed", "true");
    else other.removeAttribute("aria-pressed");
  }
}

export function startPreferences() {
  for (const form of document.querySelectorAll("form[data-preferences]")) {
    form.addEventListener("submit", choose);
  }
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const button of document.querySelectorAll("[data-browser-zone]")) {
    button.value = own;
    button.textContent = `${own}, this browser’s zone`;
    button.hidden = own === "UTC";
  }
}
