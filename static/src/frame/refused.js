// A form in the page that is answered by a whole error page, or not at all: say so at the form, and
// leave what was written where it is.
import { announce, make, reasonOf } from "./page.js";

const isPage = (ctx) => !ctx.text || /<html[\s>]/i.test(ctx.text);
const own = (ctx) => ctx?.sourceElement?.closest?.("form[method=post]:not(dialog form)") ?? null;

function say(form, text) {
  form.querySelector("[data-failure]")?.remove();
  const note = make("p", { class: "note bad", "data-failure": true, role: "alert" }, text);
  form.prepend(note);
  announce(text);
}

function beforeSwap(event) {
  const { ctx } = event.detail;
  const form = own(ctx);
  if (!form || !(ctx.response?.status >= 400) || !isPage(ctx)) return;
  event.preventDefault();
  const request = ctx.response.headers.get("X-Trace-Id");
  const why = reasonOf(ctx.text) || `The server answered ${ctx.response.status}.`;
  say(form, `${why} Nothing was changed. Request ${request ?? "unknown"}.`);
}

function onFailure(event) {
  const form = own(event.detail?.ctx);
  if (form) say(form, "The server could not be reached. Nothing was changed; what you wrote is still here.");
}

export function startRefusals() {
  document.addEventListener("htmx:before:swap", beforeSwap);
  document.addEventListener("htmx:error", onFailure);
}
