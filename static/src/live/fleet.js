// The sessions list: hints of the fleet refresh the rows, keeping filter, place and selection.
import { Connection } from "./connection.js";
import { countAgain } from "../frame/counts.js";
import htmx from "../frame/htmx.js";
import { Stream } from "./stream.js";

const GATHER = 700;
const GATHER_EVERY = 2_000;

class Fleet {
  constructor(list) {
    this.list = list;
    this.unknown = new Set();
    // A list of what waits shows what is new by itself; others only offer to load it.
    this.every = list.hasAttribute("data-fleet-every");
    this.more = document.querySelector("[data-fleet-more]");
    this.more?.addEventListener("click", () => location.assign(location.href));
  }

  start() {
    const stream = new Stream({
      socketPath: "/ws/fleet",
      onFrame: (frame) => this.#hint(frame),
      onState: (state, detail) => this.#state(state, detail),
    });
    this.connection = new Connection(() => stream.reconnect());
    stream.start();
  }

  #state(state, detail) {
    // Hints have no cursor: what was missed while away is seen by looking once.
    if (state === "live" && this.away) this.#soon();
    this.away = state !== "live";
    if (state !== "reset") this.connection.show(state, detail);
  }

  #hint(frame) {
    const thread = (frame.event ?? frame).thread_id;
    if (!thread) return;
    countAgain();
    const row = this.list.querySelector(`[data-threads~="${CSS.escape(thread)}"]`);
    if (row || this.every) this.#soon(row ? GATHER : GATHER_EVERY);
    else this.#note(thread);
  }

  #note(thread) {
    this.unknown.add(thread);
    if (!this.more) return;
    this.more.hidden = false;
    this.more.querySelector("[data-fleet-count]").textContent = this.unknown.size.toLocaleString("en");
  }

  #soon(delay = GATHER) {
    this.timer ??= setTimeout(() => this.#refresh(), delay);
  }

  async #refresh() {
    this.timer = null;
    // What is selected while the answer is on its way counts, too.
    let kept = this.#selection();
    const look = () => (kept = this.#selection());
    this.list.addEventListener("htmx:before:swap", look);
    const fetchList = this.list.dataset.refreshUrl || location.pathname + location.search;
    await htmx.ajax("GET", fetchList, {
      source: this.list,
      target: this.list,
      swap: "innerMorph",
      select: `#${this.list.id} > *`,
    });
    this.list.removeEventListener("htmx:before:swap", look);
    this.#restore(kept);
    this.list.dispatchEvent(new CustomEvent("fleet:shown", { bubbles: true }));
  }

  #selection() {
    const selected = this.list.querySelector('[data-row][aria-selected="true"]')?.id;
    const ticked = [...this.list.querySelectorAll("input:checked")].map((input) => input.id);
    const focused = this.list.contains(document.activeElement);
    return { selected, ticked, focused };
  }

  #restore({ selected, ticked, focused }) {
    for (const id of ticked) {
      const input = document.getElementById(id);
      if (input) input.checked = true;
    }
    const row = selected && document.getElementById(selected);
    if (!row) return;
    row.setAttribute("aria-selected", "true");
    if (focused && !this.list.contains(document.activeElement)) row.querySelector("a")?.focus({ preventScroll: true });
  }
}

export function startFleet() {
  const list = document.querySelector("[data-fleet]");
  if (list) new Fleet(list).start();
}
