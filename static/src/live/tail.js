// The event tail of a run: rows as they come, at most 2,000, with filter, pause and gaps.
import { Follow } from "./follow.js";
import { icon, make, oncePerFrame } from "../frame/page.js";
import { brief, hueOf } from "./events.js";
import { parseFilter } from "./filter.js";
import { timeOfDay } from "../frame/time.js";

const MOST = 2_000;

function cell(css, text, extra = {}) {
  return make("span", { class: css, ...extra }, text);
}

export class Tail {
  constructor(list, root) {
    this.list = list;
    this.root = root;
    this.paused = false;
    this.held = [];
    this.lost = 0;
    this.last = null; // the row that coalesces deltas of one block
    this.part = (name) => root.querySelector(`[data-tail-${name}]`);
    this.follow = new Follow(list.parentElement, () => this.#draw());
    this.draw = oncePerFrame(() => this.#draw());
    this.#controls();
  }

  #controls() {
    const [pause, jump, filter] = ["pause", "jump", "filter"].map(this.part);
    this.part("state").hidden = false;
    if (pause) pause.hidden = false;
    pause?.addEventListener("click", () => this.#toggle());
    jump?.addEventListener("click", () => this.paused ? this.#toggle() : this.follow.jump());
    filter?.addEventListener("input", () => this.#filter());
    this.#filter();
    this.follow.jump();
  }

  /** Add an event; while paused it is kept aside. */
  add(event, cursor) {
    if (this.paused) this.#hold(event, cursor);
    else this.#show(event, cursor);
    this.draw();
  }

  gap(frame) {
    const words = [frame.from, frame.to].filter(Boolean).join(" … ");
    const text = make("span", {}, make("b", {}, "Gap. "), make("span", { class: "mono" }, words), ` ${frame.reason ?? "these events are no longer kept"}. Facts are complete.`);
    this.list.append(make("li", { class: "gap" }, icon("g-lost"), text));
    this.last = null;
    this.#trim();
  }

  #hold(event, cursor) {
    this.held.push([event, cursor]);
    if (this.held.length <= MOST) return;
    this.held.shift();
    this.lost += 1;
  }

  #show(event, cursor) {
    if (this.#coalesce(event)) return;
    const place = event.seq ?? cursor.split(".")[1] ?? "";
    const row = make("li", { "data-type": event.type, class: hueOf(event) || undefined },
      cell("at", timeOfDay(event.at)), cell("seq", String(place)), cell("ty", event.type),
      make("span", { class: "tx", dir: "auto" }, document.createTextNode(brief(event))));
    row.hidden = !this.accepts(event.type, row.textContent);
    this.list.append(row);
    this.last = event.data?.delta === undefined ? null : { key: this.#key(event), row, n: 1 };
    this.#trim();
    this.follow.grown();
  }

  #key(event) {
    return `${event.run_id} ${event.type} ${event.data?.block}`;
  }

  /** Deltas of one block in a row are one row: the words matter, not the packets. */
  #coalesce(event) {
    if (event.data?.delta === undefined || this.last?.key !== this.#key(event)) return false;
    const { row } = this.last;
    this.last.n += 1;
    const text = row.lastChild.firstChild;
    text.appendData(brief(event));
    if (text.length > 2_000) text.deleteData(0, text.length - 1_000);
    row.lastChild.title = `${this.last.n} deltas`;
    this.follow.grown();
    return true;
  }

  #trim() {
    while (this.list.childElementCount > MOST) this.list.firstElementChild.remove();
  }

  #filter() {
    this.accepts = parseFilter(this.part("filter")?.value ?? "");
    for (const row of this.list.children) {
      if (row.dataset.type) row.hidden = !this.accepts(row.dataset.type, row.textContent);
    }
    this.#draw();
  }

  #toggle() {
    this.paused = !this.paused;
    if (!this.paused) this.#resume();
    this.#draw();
  }

  #resume() {
    if (this.lost) this.gap({ reason: `${this.lost.toLocaleString("en")} events passed while paused` });
    const held = this.held;
    this.held = [];
    this.lost = 0;
    for (const [event, cursor] of held) this.#show(event, cursor);
    this.follow.jump();
  }

  #draw() {
    const waiting = this.held.length + this.lost;
    const set = (name, text) => {
      const part = this.part(name);
      if (part && part.textContent !== text) part.textContent = text;
    };
    const hidden = this.list.querySelectorAll("li[hidden]").length;
    set("hidden", hidden ? `${hidden.toLocaleString("en")} hidden by the filter` : "");
    set("word", this.paused ? "Paused" : this.follow.on ? "Following" : "Not following");
    set("note", waiting ? `${waiting.toLocaleString("en")} new` : "");
    const pause = this.part("pause");
    if (pause) pause.firstChild.data = this.paused ? "Go on " : "Pause tail ";
    const jump = this.part("jump");
    if (jump) jump.hidden = this.follow.on && !this.paused;
  }
}
