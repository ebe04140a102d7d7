// Following what grows at the end of a page or of a list: stop when the reader scrolls up.
import { oncePerFrame } from "../frame/page.js";

const NEAR = 80;

export class Follow {
  /** `area` scrolls by itself, or is null for the page; `onChange` redraws the controls. */
  constructor(area, onChange = () => {}) {
    this.area = area ?? document.scrollingElement;
    this.onChange = onChange;
    this.on = true;
    this.grown = oncePerFrame(() => this.on && this.#toEnd());
    (area ?? document).addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  get atEnd() {
    return this.area.scrollHeight - this.area.scrollTop - this.area.clientHeight < NEAR;
  }

  jump() {
    this.on = true;
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

  #scrolled() {
    if (this.on === this.atEnd) return;
    this.on = this.atEnd;
    this.onChange();
  }
}
