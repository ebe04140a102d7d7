// htmx with the extensions that base.html allows: hx-csp and our own swap style "merge".
import htmx from "htmx.org";
import "htmx.org/dist/ext/hx-csp.js";
import { merge } from "./merge.js";

htmx.registerExtension("merge", {
  handle_swap: (style, target, fragment) => (style === "merge" ? merge(target, fragment) : false),
});

export default htmx;
