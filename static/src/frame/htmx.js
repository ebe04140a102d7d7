// htmx with the extensions that base.html allows: hx-csp and our own swap style "merge".
import htmx from "htmx.org";
import "htmx.org/dist/ext/hx-csp.js";
import { merge } from "./merge.js";

htmx.registerExtension("merge", {
  handle_swap: (style, target, fragment) => (style === "merge" ? merge(target, fragment) : false),
});

// htmx copies `style` from what it replaces, and the policy forbids styles in attributes; a browser
// leaves one on a field that somebody has resized.
document.addEventListener("htmx:before:swap", ({ detail }) => {
  for (const field of detail.ctx?.target?.querySelectorAll?.("[style]") ?? []) field.removeAttribute("style");
});

export default htmx;
