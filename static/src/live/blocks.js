// Blocks being written: deltas as text nodes, keyed by run and block, placed by their offset, so
// that a replay never doubles. The server's rendering of the same message replaces them.
import { icon, make } from "../frame/page.js";

const REMEMBERED = 500;
const KINDS = [
  ["text_block", "text"],
  ["thinking_block", "thinking"],
  ["tool_call", "call"],
  ["tool_result", "result"],
];

function kindOf(type) {
  return KINDS.find(([prefix]) => type.startsWith(prefix))?.[1] ?? null;
}

/** Offsets count characters as the server does: code points, not UTF-16 units. */
function points(text) {
  let n = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0xdc00 || unit > 0xdfff) n += 1;
  }
  return n;
}

function after(text, skip) {
  return skip === 0 ? text : [...text].slice(skip).join("");
}

function caret() {
  return make("span", { class: "caret", "aria-hidden": "true" });
}

function frameOf(by, ...body) {
  return make("article", { class: "msg" }, make("div", { class: "by" }, make("b", { dir: "auto" }, by)), ...body);
}

const DRAW = {
  text(by) {
    const line = make("p", { class: "plain", dir: "auto" });
    return { element: frameOf(by, make("div", { class: "prose" }, line)), line };
  },
  thinking(by) {
    const line = make("p", { class: "plain", dir: "auto" });
    const summary = make("summary", {}, icon("brain", "i"), "Thinking");
    const details = make("details", { class: "think" }, summary, line);
    return { element: frameOf(by, make("div", { class: "prose" }, details)), line };
  },
  call(_, data) {
    const line = make("span", { class: "arg clip", dir: "auto" });
    const tool = make("span", { class: "tool" }, data.name ?? data.tool ?? "tool call");
    const head = make("div", { class: "call-head" }, tool, line);
    const pair = make("div", { class: "pair" }, head);
    return { element: make("article", { class: "call live" }, make("div", { class: "by" }), pair), line };
  },
  result(_, data) {
    const line = make("div", { class: "out", dir: "auto" });
    const tool = make("span", { class: "tool" }, data.name ?? data.tool ?? "result");
    const pair = make("div", { class: "pair" }, make("div", { class: "call-head" }, tool), line);
    return { element: make("article", { class: "call live" }, make("div", { class: "by" }), pair), line };
  },
};

export class LiveBlocks {
  constructor(container) {
    this.container = container;
    this.agent = container.dataset.agent || "agent";
    this.open = new Map();
    this.finished = new Set();
  }

  /** Apply a stream event; true if the page grew. */
  apply(event, cursorSeq) {
    const kind = kindOf(event.type);
    const { block, offset = 0, delta } = event.data ?? {};
    if (!kind || block === undefined) return false;
    const key = `${event.run_id} ${kind} ${block}`;
    if (this.finished.has(key)) return false;
    const held = this.open.get(key) ?? this.#begin(key, kind, event, cursorSeq);
    if (event.type.endsWith("_end")) held.caret.remove();
    return typeof delta === "string" ? this.#write(held, offset, delta) : false;
  }

  #begin(key, kind, event, cursorSeq) {
    const drawn = DRAW[kind](this.agent, event.data);
    const text = document.createTextNode("");
    const mark = caret();
    drawn.line.append(text, mark);
    const { data, run_id: run } = event;
    const held = { kind, run, text, caret: mark, length: 0, seq: cursorSeq, element: drawn.element };
    held.call = data.call_id ?? data.tool_call_id ?? null;
    this.open.set(key, held);
    this.container.append(drawn.element);
    return held;
  }

  #write(held, offset, delta) {
    const size = points(delta);
    const skip = held.length - offset;
    if (skip >= size) return false;
    if (skip < 0) held.text.appendData(" […] "); // a hole: the committed message will fill it
    held.text.appendData(after(delta, Math.max(0, skip)));
    held.length = offset + size;
    return true;
  }

  /** Which blocks a committed fact makes superfluous, once its rendering is on the page. */
  endedBy(fact) {
    const run = [...this.open].filter(([, held]) => held.run === fact.run_id);
    if (fact.type === "message/assistant") {
      return run.filter(([, held]) => held.kind !== "result" && held.seq < fact.seq).map(([key]) => key);
    }
    if (fact.type === "tool/result") {
      const call = fact.data?.call_id;
      return run.filter(([, held]) => held.kind === "result" && (!held.call || held.call === call)).map(([key]) => key);
    }
    const over = fact.type === "run/end" || fact.type.startsWith("turn/") && fact.type !== "turn/start";
    return over ? run.map(([key]) => key) : [];
  }

  /** Take blocks off the page; what still comes for them is old. */
  remove(keys) {
    for (const key of keys) {
      this.open.get(key)?.element.remove();
      this.open.delete(key);
      this.finished.add(key);
    }
    for (const old of this.finished) {
      if (this.finished.size <= REMEMBERED) break;
      this.finished.delete(old);
    }
  }
}
