// The connection's state in the top bar, and the banner once live updates are really lost.
import { alarm, announce, setIcon } from "../frame/page.js";
import { ageText, timeWithZone } from "../frame/time.js";

const BANNER_AFTER = 4_000;
const ENDED = {
  "signed-out": "You are signed out. Sign in again to go on; nothing was lost.",
  forbidden: "You may no longer watch this session. Your access was taken away.",
  gone: "This session no longer exists.",
};

export class Connection {
  constructor(onReconnect) {
    this.chip = document.getElementById("conn");
    this.banner = document.getElementById("stale");
    this.asOf = new Date();
    this.state = "off";
    this.retryAt = 0;
    this.banner?.querySelector("[data-reconnect]")?.addEventListener("click", () => {
      if (ENDED[this.state]) location.reload();
      else onReconnect();
    });
  }

  /** Show a state of the stream; seconds and sentences are kept current until the next one. */
  show(state, pause = 0) {
    const was = this.state;
    this.state = state;
    this.retryAt = Date.now() + pause;
    if (state === "live") this.#live(was);
    else if (was === "live") this.asOf = this.lostAt = new Date();
    this.lostAt ??= new Date();
    if (ENDED[state]) alarm(ENDED[state]);
    clearInterval(this.timer);
    if (state !== "live") this.timer = setInterval(() => this.#draw(), 1_000);
    this.#draw();
  }

  #live(was) {
    this.asOf = new Date();
    if (this.said) announce("Live updates are back");
    this.said = false;
    this.lostAt = null;
    if (was === "off") this.chip.hidden = false;
  }

  #draw() {
    if (!this.chip) return;
    const lost = this.state !== "live" && Date.now() - this.lostAt > BANNER_AFTER;
    this.chip.hidden = false;
    this.chip.dataset.state = this.#look(lost);
    this.chip.querySelector("[data-conn-word]").textContent = this.#word(lost);
    setIcon(this.chip, this.state === "live" ? "g-online" : lost || ENDED[this.state] ? "g-lost" : "g-queued");
    this.#drawBanner(lost);
  }

  #look(lost) {
    if (ENDED[this.state]) return "lost";
    if (this.state === "live") return "live";
    return lost ? "stale" : this.state;
  }

  #word(lost) {
    if (this.state === "live") return "Live";
    if (ENDED[this.state]) return "Not live";
    if (lost) return `Stale since ${timeWithZone(this.asOf)}`;
    if (this.state !== "reconnecting") return this.state === "catching-up" ? "Catching up" : "Connecting";
    const seconds = Math.max(0, Math.ceil((this.retryAt - Date.now()) / 1000));
    return seconds ? `Reconnecting in ${seconds} s` : "Reconnecting";
  }

  #drawBanner(lost) {
    if (!this.banner) return;
    const ended = ENDED[this.state];
    this.banner.hidden = !(lost || ended);
    if (this.banner.hidden) return;
    const since = `Live updates lost ${ageText(Date.now() - this.lostAt)} ago.`;
    const bold = document.createElement("b");
    bold.textContent = ended ?? since;
    const rest = ` Showing state as of ${timeWithZone(this.asOf)}. Controls still work.`;
    this.banner.querySelector("[data-stale-text]").replaceChildren(bold, ended ? "" : rest);
    this.banner.querySelector("[data-reconnect]").textContent = ended ? "Reload" : "Reconnect now";
    if (!this.said && !ended) announce("Live updates lost, trying again");
    this.said = true;
  }
}
