// What several modules need of the page: revealing controls, announcing, drawing elements.

const SVG = "http://www.w3.org/2000/svg";

/** Show the controls that only work with scripts. */
export function reveal(root) {
  for (const item of root.querySelectorAll("[data-js][hidden]")) item.hidden = false;
}

/** Say a boundary politely: runs starting and ending, approvals, reconnects; nothing else. */
export function announce(text) {
  const line = document.getElementById("announce");
  if (line) line.textContent = text;
}

/** Say that control was lost, at once. */
export function alarm(text) {
  const line = document.getElementById("alarm");
  if (line) line.textContent = text;
}

/** Make an element; children may be elements or text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** Draw a symbol of the sprite. */
export function icon(name, css = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("viewBox", "0 0 16 16");
  if (css) svg.setAttribute("class", css);
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#${name}`);
  svg.append(use);
  return svg;
}

/** Change the symbol of a drawn icon. */
export function setIcon(holder, name) {
  holder?.querySelector("use")?.setAttribute("href", `#${name}`);
}

/** Why a request was refused, from the error page that came back; empty when it does not say. */
export function reasonOf(text) {
  if (!text) return "";
  const page = new DOMParser().parseFromString(text, "text/html");
  return page.querySelector("[data-detail]")?.textContent.trim() ?? "";
}

/** Run at most once a frame, however often it is asked. */
export function oncePerFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}
