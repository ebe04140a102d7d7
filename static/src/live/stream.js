// One subscription with a cursor: a socket, server-sent events once the socket has failed twice,
// closed while the tab is hidden, reopened at the cursor, with growing and scattered pauses.

import { isAfter } from "./cursor.js";

const CODES = { 4400: "reset", 4401: "signed-out", 4403: "forbidden", 4404: "gone" };
const FINAL = new Set(["signed-out", "forbidden", "gone"]);
const SLOW = 4408;
const SOCKET_TRIES = 2;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;
const SILENCE = 60_000;
const SETTLE = 1_500;
const NAMED = ["ready", "ping", "gap", "reset", "closing", "error", "hint"];

function pauseFor(failures) {
  const top = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** failures);
  return top / 2 + Math.random() * (top / 2);
}

export class Stream {
  /** `onFrame(frame)` gets every frame; `onState(state, detail)` what became of the connection. */
  constructor({ socketPath, eventsPath = "", cursor = "", onFrame, onState }) {
    Object.assign(this, { socketPath, eventsPath, cursor, onFrame, onState });
    this.failures = 0;
    this.socketFailures = 0;
    this.line = null;
    this.ended = false;
  }

  start() {
    document.addEventListener("visibilitychange", () => this.#visibility());
    window.addEventListener("pagehide", () => this.#close());
    window.addEventListener("pageshow", (event) => event.persisted && this.reconnect());
    this.#visibility();
  }

  /** Try again now, whatever the pause. */
  reconnect() {
    this.ended = false;
    this.failures = 0;
    this.#close();
    this.#open();
  }

  #visibility() {
    if (this.ended) return;
    if (document.hidden) this.#close();
    else if (!this.line) this.#open();
  }

  #address(path) {
    const url = new URL(path, location.href);
    if (this.cursor) url.searchParams.set("after", this.cursor);
    return url;
  }

  #open() {
    clearTimeout(this.timer);
    this.onState("connecting");
    this.line = this.#useEvents() ? this.#openEvents() : this.#openSocket();
  }

  #useEvents() {
    // Every second failure tries the other way again: a proxy may have learnt to speak sockets.
    return this.eventsPath && this.socketFailures >= SOCKET_TRIES && this.socketFailures % 4 !== 0;
  }

  #openSocket() {
    const url = this.#address(this.socketPath);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url);
    const line = { heard: false, close: () => socket.close(1000) };
    socket.addEventListener("open", () => this.#opened(line));
    socket.addEventListener("message", (message) => this.#hear(line, JSON.parse(message.data)));
    socket.addEventListener("close", (event) => this.#closed(line, event.code));
    return line;
  }

  #openEvents() {
    const source = new EventSource(this.#address(this.eventsPath));
    const line = { heard: false, events: true, close: () => source.close() };
    const hear = (message) => this.#hearEvent(line, message);
    source.addEventListener("open", () => this.#opened(line));
    source.addEventListener("message", hear);
    for (const name of NAMED) source.addEventListener(name, hear);
    source.addEventListener("error", (event) => {
      if (typeof event.data === "string") return; // a frame named error, not a broken line
      source.close();
      this.#closed(line, line.code ?? 0);
    });
    return line;
  }

  #hearEvent(line, message) {
    if (typeof message.data !== "string") return;
    const data = JSON.parse(message.data);
    const framed = NAMED.includes(message.type);
    this.#hear(line, framed ? data : { type: "event", cursor: message.lastEventId, event: data });
  }

  #opened(line) {
    if (this.line !== line) return;
    this.onState("catching-up");
    // A server that says nothing because nothing happened is live all the same.
    line.settle = setTimeout(() => this.#live(line), SETTLE);
    this.#watch(line);
  }

  #live(line) {
    if (this.line !== line) return;
    clearTimeout(line.settle);
    line.heard = true;
    this.failures = 0;
    if (!line.events) this.socketFailures = 0;
    this.onState("live");
  }

  #hear(line, frame) {
    if (this.line !== line) return;
    line.heard = true;
    this.#watch(line);
    if (frame.type === "ready") this.#live(line);
    if (frame.type === "reset") this.onState("reset");
    if (frame.type === "closing") line.code = frame.code; // over SSE nothing else says why
    if (frame.cursor && isAfter(frame.cursor, this.cursor)) this.cursor = frame.cursor;
    this.onFrame(frame);
  }

  /** A line without a word for a minute is dead, whatever the browser believes. */
  #watch(line) {
    clearTimeout(line.silence);
    line.silence = setTimeout(() => {
      if (this.line !== line) return;
      line.close();
      this.#closed(line, 1006);
    }, SILENCE);
  }

  #closed(line, code) {
    if (this.line !== line) return;
    this.#forget();
    const meaning = CODES[code];
    if (FINAL.has(meaning)) this.ended = true;
    if (meaning) this.onState(meaning);
    if (meaning || document.hidden) return;
    if (!line.heard) this.socketFailures += 1;
    const pause = code === SLOW ? 0 : pauseFor(this.failures);
    this.failures += 1;
    this.onState("reconnecting", pause);
    this.timer = setTimeout(() => this.#open(), pause);
  }

  #forget() {
    clearTimeout(this.line?.settle);
    clearTimeout(this.line?.silence);
    this.line = null;
  }

  #close() {
    clearTimeout(this.timer);
    const line = this.line;
    this.#forget();
    line?.close();
  }
}
