// Choosing files: the input, what is dropped anywhere on the page, and what is pasted.
import { announce, make } from "../frame/page.js";

const carriesFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
const isField = (element) => element?.closest?.("input, textarea, select, [contenteditable]");

/** 12 B, 4.1 kB, 25 MB. */
export function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${value >= 10 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export class Files {
  constructor(form) {
    this.form = form;
    this.input = form.querySelector('input[type="file"]');
    this.drop = form.querySelector("[data-import-drop]");
    this.chosen = form.querySelector("[data-import-chosen]");
    this.paste = form.querySelector("[data-import-paste]");
  }

  start() {
    this.input.addEventListener("change", () => this.#show());
    document.addEventListener("dragover", (event) => this.#over(event));
    document.addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) this.drop.classList.remove("over");
    });
    document.addEventListener("drop", (event) => this.#dropped(event));
    document.addEventListener("paste", (event) => this.#pasted(event));
    this.#show();
  }

  get list() {
    return [...this.input.files];
  }

  get text() {
    return this.form.elements.pasted.value;
  }

  /** What was sent is not sent again by the next click. */
  clear() {
    this.input.value = "";
    this.form.elements.pasted.value = "";
    this.#show();
  }

  #over(event) {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    this.drop.classList.add("over");
  }

  #dropped(event) {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    this.drop.classList.remove("over");
    this.#add(event.dataTransfer.files);
  }

  #pasted(event) {
    const { clipboardData } = event;
    if (clipboardData?.files.length) {
      event.preventDefault();
      this.#add(clipboardData.files);
      return;
    }
    const text = clipboardData?.getData("text/plain");
    if (!text?.trim() || isField(event.target)) return;
    event.preventDefault();
    this.paste.open = true;
    this.form.elements.pasted.value = text;
    announce(`Pasted ${text.length.toLocaleString("en")} characters`);
  }

  #add(files) {
    const all = new DataTransfer();
    for (const file of [...this.input.files, ...files]) all.items.add(file);
    this.input.files = all.files;
    this.#show();
    announce(`${all.files.length} files chosen`);
  }

  /** The names, which the browser's own control shows for one file only. */
  #show() {
    const files = this.list;
    this.chosen.hidden = files.length < 2;
    this.chosen.replaceChildren(
      ...files.map((file) => make("li", {}, make("bdi", {}, file.name), make("span", { class: "faint" }, ` ${size(file.size)}`))),
    );
  }
}
