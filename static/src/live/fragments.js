// The server's rendering of what changed, fetched once for a burst of facts and merged by id.
import htmx from "../frame/htmx.js";

const GATHER = 60;
const RETRY = [1_000, 3_000, 10_000, 30_000];

export class Fragments {
  /** `root` carries data-fragment-url, data-fragment-target and data-seq, the newest fact shown. */
  constructor(root, onShown) {
    this.root = root;
    this.onShown = onShown;
    this.shown = Number(root.dataset.seq) || 0;
    this.wanted = this.shown;
    this.failures = 0;
    this.busy = false;
    root.addEventListener("htmx:before:swap", (event) => this.#gate(event));
  }

  /** Ask for the rendering of everything up to this fact. */
  want(seq) {
    this.wanted = Math.max(this.wanted, seq);
    if (!this.busy && this.wanted > this.shown) this.#soon(GATHER);
  }

  #soon(delay) {
    clearTimeout(this.timer);
    this.busy = true;
    this.timer = setTimeout(() => this.#load(), delay);
  }

  /** An error's body never goes among the messages. */
  #gate(event) {
    const { ctx } = event.detail;
    if (ctx.sourceElement === this.root && ctx.response?.status >= 400) event.preventDefault();
  }

  async #load() {
    const upTo = this.wanted;
    const url = new URL(this.root.dataset.fragmentUrl, location.href);
    url.searchParams.set("after_seq", String(this.shown));
    const answer = { ok: false };
    await htmx.ajax("GET", url.pathname + url.search, {
      source: this.root,
      target: this.root.dataset.fragmentTarget || "#log",
      swap: "merge",
      fetch: async (address, options) => {
        const response = await fetch(address, options);
        answer.ok = response.ok;
        return response;
      },
    });
    if (answer.ok) this.#done(upTo);
    else this.#soon(RETRY[Math.min(this.failures++, RETRY.length - 1)]);
  }

  #done(upTo) {
    this.failures = 0;
    this.shown = Math.max(this.shown, upTo);
    this.root.dataset.seq = String(this.shown);
    this.busy = false;
    this.onShown(this.shown);
    if (this.wanted > this.shown) this.#soon(GATHER);
  }
}
