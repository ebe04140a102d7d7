// The swap style "merge": elements replace those of the same id, wherever they are; new ones go
// into the target in order of data-seq; data-gone removes. What a person has open or typed stays.

const FIELDS = "input, textarea, select";

function keepOpen(old, next) {
  for (const details of old.querySelectorAll("details[id][open]")) {
    const twin = next.querySelector(`#${CSS.escape(details.id)}`);
    if (twin) twin.open = true;
  }
}

// What was sent is no draft any more; what is typed while the answer is under way still is one.
document.addEventListener("submit", ({ target }) => {
  for (const field of target.querySelectorAll(FIELDS)) if (field.id) field.defaultValue = field.value;
});

function keepTyped(old, next) {
  for (const field of old.querySelectorAll(FIELDS)) {
    if (!field.id || field.type === "hidden") continue;
    const twin = next.querySelector(`#${CSS.escape(field.id)}`);
    if (twin && field.value !== field.defaultValue) twin.value = field.value;
    if (twin && field.type === "checkbox") twin.checked = field.checked;
  }
}

function replace(old, next) {
  if (old.isEqualNode(next)) return false;
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  keepOpen(old, next);
  keepTyped(old, next);
  old.replaceWith(next);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  return true;
}

/** Where a new element goes; false for one that is older than all that the page shows. */
function insert(target, next) {
  const seq = Number(next.dataset.seq);
  if (next.dataset.seq === undefined || Number.isNaN(seq)) {
    target.append(next);
    return true;
  }
  // Nearly always the newest, so look from the end.
  let after = target.lastElementChild;
  while (after && !(Number(after.dataset.seq) <= seq)) after = after.previousElementSibling;
  if (after) after.after(next);
  // What changed before the first line of a page stands on an older page.
  else if (target.querySelector(":scope > [data-seq]")) return false;
  else target.prepend(next);
  return true;
}

/** Put the fragment's elements where they belong; returns those that are new in the page. */
export function merge(target, fragment) {
  const placed = [];
  for (const next of [...fragment.children]) {
    const old = next.id ? document.getElementById(next.id) : null;
    if ("gone" in next.dataset) old?.remove();
    else if (old ? replace(old, next) : insert(target, next)) placed.push(next);
  }
  return placed;
}
