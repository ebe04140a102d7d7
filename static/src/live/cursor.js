// The wire cursor: eight hex digits of the thread, then the fact and the delta after it.

const SHAPE = /^[0-9a-f]{8}\.(\d+)-(\d+)$/;

/** Read a cursor as [seq, n]; anything else is the beginning. */
export function readCursor(cursor) {
  const match = SHAPE.exec(cursor ?? "");
  return match ? [Number(match[1]), Number(match[2])] : [0, 0];
}

/** Whether a cursor lies after another: what is not after it was applied already. */
export function isAfter(cursor, last) {
  if (!last) return true;
  const [seq, n] = readCursor(cursor);
  const [lastSeq, lastN] = readCursor(last);
  return seq > lastSeq || (seq === lastSeq && n > lastN);
}
