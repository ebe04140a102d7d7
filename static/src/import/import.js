// The import page: files go one by one, each with a line of its own, so that a bad one hides none.
import htmx from "../frame/htmx.js";
import { announce, icon, make } from "../frame/page.js";
import { Files, size } from "./files.js";
import { body, newRequestId, send } from "./sending.js";

const MAX_BYTES = 32 * 1024 * 1024;
const UNREACHABLE = "The server could not be reached; nothing of this file was kept.";
const STOPPED = "Stopped before it was read; nothing of this file was kept.";
const ELSEWHERE = "The server answered with another page. Sign in again in another tab, then try again.";

const isLine = (text) => text.includes("data-outcome=") && !/<html[\s>]/i.test(text);

class Importing {
  constructor(form) {
    this.form = form;
    this.files = new Files(form);
    this.results = document.querySelector("[data-import-results]");
    this.lines = this.results.querySelector("[data-import-lines]");
    this.count = this.results.querySelector("[data-import-count]");
    this.stop = this.results.querySelector("[data-import-stop]");
    this.button = form.querySelector("button.primary");
    this.items = [];
    this.queue = [];
  }

  start() {
    this.files.start();
    this.form.addEventListener("submit", (event) => this.#submit(event));
    this.results.addEventListener("click", (event) => this.#again(event));
    this.stop.addEventListener("click", () => this.#stop());
  }

  #submit(event) {
    const pasted = this.files.text.trim() ? [{ name: "pasted text", text: this.files.text }] : [];
    const chosen = [...this.files.list.map((file) => ({ name: file.name, file })), ...pasted];
    if (!chosen.length) return; // the server says what is missing
    event.preventDefault();
    for (const item of chosen) this.#queue(item, this.#own());
    this.files.clear();
    this.#work();
  }

  /** A password counts for what is sent now; it is not kept. */
  #own() {
    const field = this.form.elements.password;
    const own = field?.value ? { password: field.value } : {};
    if (field) field.value = "";
    return own;
  }

  #queue(item, own) {
    item.number = this.items.length + 1;
    item.element = make("li", { id: `line-${item.number}` });
    this.items.push(item);
    this.lines.append(item.element);
    this.#wait(item, own);
  }

  #wait(item, own) {
    item.own = own;
    item.requestId = newRequestId();
    item.state = "waiting";
    item.bar = make("progress", { max: "1", value: "0", "aria-label": `Sending ${item.name}` });
    item.word = make("span", { class: "dim" }, "waits");
    item.element.replaceChildren(
      make("div", { class: "outcome" }, icon("g-queued"), make("div", { class: "stack" }, make("p", {}, make("b", {}, make("bdi", {}, item.name)), " ", item.word), item.bar)),
    );
    this.queue.push(item);
    this.results.hidden = false;
  }

  async #work() {
    if (this.busy) return;
    this.busy = true;
    this.stop.hidden = false;
    this.#tell();
    for (let item = this.queue.shift(); item; item = this.queue.shift()) {
      await this.#send(item);
      this.#tell();
    }
    this.busy = false;
    this.stop.hidden = true;
    announce(this.#summary());
  }

  async #send(item) {
    if (item.file?.size > MAX_BYTES) {
      this.#fail(item, `It has ${size(item.file.size)}; a file may have at most 32 MB.`, false);
      return;
    }
    item.word.textContent = "is being sent";
    try {
      const data = body(this.form, item, item.own);
      const answer = await send(this.form, data, {
        onProgress: (part) => this.#progress(item, part),
        onStart: (request) => (this.request = request),
      });
      await this.#answered(item, answer);
    } catch (error) {
      this.#fail(item, error.message === "abort" ? STOPPED : UNREACHABLE, true);
    } finally {
      this.request = null;
      item.own = {};
    }
  }

  #progress(item, part) {
    item.bar.value = part;
    if (part < 1) return;
    item.bar.removeAttribute("value");
    item.word.textContent = "is being read";
  }

  async #answered(item, request) {
    if (isLine(request.responseText)) {
      await this.#show(item, request);
      return;
    }
    const trace = request.getResponseHeader("X-Trace-Id") ?? "unknown";
    const why = request.status < 400 ? ELSEWHERE : `The server answered ${request.status}. Request ${trace}.`;
    this.#fail(item, why, true);
  }

  /** Through htmx, whose policy is the only one that may make elements of text. */
  async #show(item, { responseText, status }) {
    await htmx.ajax("GET", this.form.action, {
      source: item.element,
      target: item.element,
      swap: "innerHTML",
      fetch: async () => new Response(responseText, { status, headers: { "Content-Type": "text/html" } }),
    });
    item.state = item.element.querySelector("[data-outcome]")?.dataset.outcome ?? "failed";
  }

  #fail(item, text, mayTry) {
    item.state = "failed";
    const again = make("p", {}, make("button", { type: "button", class: "btn", "data-again": true }, "Try again"));
    item.element.replaceChildren(
      make("div", { class: "outcome bad" }, icon("g-failed"), make("div", { class: "stack" }, make("p", {}, make("b", {}, make("bdi", {}, item.name)), " was not imported."), make("p", {}, text), ...(mayTry ? [again] : []))),
    );
  }

  /** The line's own fields win over the form's: another name, a password, other permissions. */
  #again(event) {
    const button = event.target.closest("[data-again]");
    const item = this.items.find((each) => each.element.contains(button));
    if (!button || !item) return;
    const own = {};
    const session = item.element.querySelector("[data-again-session]");
    const password = item.element.querySelector("[data-again-password]");
    if (session) own.session_id = session.value;
    if (button.dataset.againPermissions) own.permissions = button.dataset.againPermissions;
    if ("againWiden" in button.dataset) own.widen = "1";
    if ("againWiden" in button.dataset && password?.value) own.password = password.value;
    item.kept = { ...item.kept, ...own };
    delete item.kept.password;
    this.#wait(item, { ...item.kept, ...own });
    item.element.tabIndex = -1;
    item.element.focus();
    this.#work();
  }

  #stop() {
    for (const item of this.queue.splice(0)) this.#fail(item, STOPPED, true);
    this.request?.abort();
  }

  #summary() {
    const done = this.items.filter((item) => item.state === "imported").length;
    return `${done} of ${this.items.length} imported`;
  }

  #tell() {
    this.count.textContent = this.#summary();
  }
}

export function startImport() {
  const form = document.querySelector("form[data-import]");
  if (form) new Importing(form).start();
}
