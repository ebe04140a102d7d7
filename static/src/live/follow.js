// Following what grows at the end of a page or of a list: stop when the reader scrolls up.
import { oncePerFrame } from "../frame/page.js";

const NEAR = 80;
const HAND = ["wheel", "touchmove", "keydown", "pointerdown"];
const MEANT_FOR = 1_000;

export class Follow {
  /** `area` scrolls by itself, or is null for the page; `onChange` redraws the controls. */
  constructor(area, onChange = () => {}) {
    this.area = area ?? document.scrollingElement;
    this.onChange = onChange;
    this.on = true;
    this.grown = oncePerFrame(() => this.on && this.#toEnd());
    this.touched = 0;
    const place = area ?? document;
    for (const name of HAND) place.addEventListener(name, () => this.#touch(), { passive: true });
    place.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  get atEnd() {
    return this.area.scrollHeight - this.area.scrollTop - this.area.clientHeight < NEAR;
  }

  jump() {
    this.on = true;
    this.touched = -MEANT_FOR; // The hand that asked for the end, or sent something, is not leaving it.
    this.#toEnd();
    this.onChange();
  }

  stop() {
    this.on = false;
    this.onChange();
  }

  #toEnd() {
    this.area.scrollTop = this.area.scrollHeight;
  }

  #touch() {
    this.touched = performance.now();
  }

  /** Growing rows scroll too; only what a hand did means that the reader looks elsewhere. */
  #scrolled() {
    if (this.on === this.atEnd) return;
    if (this.on && performance.now() - this.touched > MEANT_FOR) return;
    this.on = this.atEnd;
    this.onChange();
  }
}
