// The tail's filter: `type:tool/*` only these, `type:-*_delta` without these, other words as text.

function glob(pattern) {
  const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^${escaped}$`, "i");
}

/** Make the test of a row from what was typed. */
export function parseFilter(query) {
  const only = [];
  const never = [];
  const words = [];
  for (const part of query.trim().split(/\s+/).filter(Boolean)) {
    const typed = /^(-?)type:(-?)(.+)$/.exec(part);
    if (!typed) words.push(part.toLowerCase());
    else if (typed[1] || typed[2]) never.push(glob(typed[3]));
    else only.push(...typed[3].split(",").filter(Boolean).map(glob));
  }
  return (type, text) =>
    !never.some((one) => one.test(type)) &&
    (!only.length || only.some((one) => one.test(type))) &&
    words.every((word) => text.toLowerCase().includes(word));
}
