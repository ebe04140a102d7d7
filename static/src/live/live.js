// The live page: one stream, its deltas into live blocks or the tail, its facts into fragments.
import { LiveBlocks } from "./blocks.js";
import { Connection } from "./connection.js";
import { isAfter, readCursor } from "./cursor.js";
import { Follow } from "./follow.js";
import { Fragments } from "./fragments.js";
import { announce, setIcon } from "../frame/page.js";
import { startSaid, turnEnded } from "./said.js";
import { Stream } from "./stream.js";
import { Tail } from "./tail.js";

const RESET_KEY = "live-reset";
const RESET_EVERY = 30_000;

const BOUNDARIES = {
  "run/start": () => "Run started",
  "run/end": (data) => `Run ${data?.status ?? "ended"}`,
  "interaction/requested": (data) => `Waiting for you: ${data?.kind ?? "approval"} for ${data?.tool ?? "a call"}`,
};

/** The page no longer fits the server's stream: load it afresh, but never in a loop. */
function reload() {
  const last = Number(sessionStorage.getItem(RESET_KEY)) || 0;
  if (Date.now() - last < RESET_EVERY) return;
  sessionStorage.setItem(RESET_KEY, String(Date.now()));
  location.reload();
}

class LivePage {
  constructor(root) {
    this.root = root;
    this.run = root.dataset.run || null;
    this.cursor = root.dataset.cursor;
    this.loaded = Number(root.dataset.seq) || 0;
    const blocks = root.querySelector("[data-live-blocks]");
    const tail = root.querySelector("[data-tail]");
    this.blocks = blocks && new LiveBlocks(blocks);
    this.tail = tail && new Tail(tail, root);
    this.follow = this.blocks && this.#followPage();
    this.fragments = root.dataset.fragmentUrl && new Fragments(root, (seq) => this.#shown(seq));
    this.ending = [];
  }

  start() {
    const thread = this.root.dataset.thread;
    this.stream = new Stream({
      socketPath: `/ws/threads/${thread}`,
      eventsPath: `/api/v1/threads/${thread}/events`,
      cursor: this.cursor,
      onFrame: (frame) => this.#frame(frame),
      onState: (state, detail) => this.#state(state, detail),
    });
    this.connection = new Connection(() => this.stream.reconnect());
    this.stream.start();
  }

  #state(state, detail) {
    if (state === "reset") reload();
    else this.connection.show(state, detail);
  }

  #frame(frame) {
    if (frame.type === "gap") this.tail?.gap(frame);
    if (frame.type !== "event" || !isAfter(frame.cursor, this.cursor)) return;
    this.cursor = frame.cursor;
    const { event } = frame;
    if (event.seq !== undefined && event.seq !== null) this.#fact(event);
    else if (this.blocks?.apply(event, readCursor(frame.cursor)[0])) this.follow.grown();
    if (!this.run || event.run_id === this.run) this.tail?.add(event, frame.cursor);
  }

  #fact(event) {
    // A conversation drops the words in place; whatever else repeats them is loaded afresh.
    if (event.type === "message/redacted" && event.seq > this.loaded && !this.blocks) location.reload();
    turnEnded(event);
    const say = BOUNDARIES[event.type];
    if (say) announce(say(event.data));
    const keys = this.blocks?.endedBy(event) ?? [];
    if (keys.length) this.ending.push({ seq: event.seq, keys });
    // A page begins before the blocks being written, so facts that it shows may come again.
    if (this.fragments && event.seq > this.fragments.shown) this.fragments.want(event.seq);
    else this.#shown(event.seq);
  }

  /** The server's rendering up to this fact is on the page: its live blocks go. */
  #shown(seq) {
    const due = this.ending.filter((item) => item.seq <= seq);
    this.ending = this.ending.filter((item) => item.seq > seq);
    this.blocks?.remove(due.flatMap((item) => item.keys));
    this.follow?.grown();
  }

  #followPage() {
    const bar = this.root.querySelector("[data-follow]");
    const follow = new Follow(null, () => draw());
    follow.on = follow.atEnd;
    const part = (name) => bar?.querySelector(`[data-follow-${name}]`);
    const draw = () => {
      if (!bar) return;
      part("word").textContent = follow.on ? "Following" : "Not following";
      setIcon(bar, follow.on ? "g-live" : "g-paused");
      part("pause").hidden = !follow.on;
      part("jump").hidden = follow.on;
    };
    if (bar) bar.hidden = false;
    part("pause")?.addEventListener("click", () => follow.stop());
    part("jump")?.addEventListener("click", () => follow.jump());
    draw();
    // Whoever has just sent something wants to see what comes of it.
    document.addEventListener("htmx:after:swap", ({ detail }) => {
      if (detail.ctx?.target?.id === "composer") follow.jump();
    });
    // A running thread opens at its newest line, unless the address or the reader says otherwise.
    const untouched = !location.hash && document.scrollingElement.scrollTop === 0;
    if (this.root.dataset.start === "end" && untouched) follow.jump();
    return follow;
  }
}

export function startLive() {
  const root = document.querySelector("[data-live]");
  startSaid();
  if (root?.dataset.thread) new LivePage(root).start();
}
