// One line for each event of the tail: what happened, in the words of its type.

const LONGEST = 240;

function cut(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function wordsOf(block) {
  if (block.output !== undefined) return textOf({ content: block.output });
  return block.text ?? block.thinking ?? (block.name ? `${block.name}()` : "");
}

function textOf(message) {
  const content = message?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map(wordsOf).filter(Boolean).join(" ");
}

const counted = (n, word) => `${n ?? 0} ${word}${n === 1 ? "" : "s"}`;
const by = (d) => d.by?.name && `by ${d.by.name}`;
const joined = (...parts) => parts.filter(Boolean).join(" ");

const LINES = {
  "run/start": (d) => `attempt ${d.attempt ?? 1} on ${d.worker ?? "a worker"}, ${d.why ?? "admitted"}`,
  "run/end": (d) => [d.status, d.reason].filter(Boolean).join(", "),
  "run/stop_requested": (d) => d.kind ?? "stop",
  "turn/start": (d) => textOf(d.input?.[0]),
  "turn/paused": (d) => joined(by(d), d.reason) || "at a safe point",
  "turn/resumed": (d) => joined(d.why, by(d), d.reason),
  "input/received": (d) => joined(textOf(d.input?.[0]), by(d)),
  "input/applied": (d) => `read what fact ${d.seq} told`,
  "message/user": (d) => textOf(d.message) || "the turn’s input",
  "request/prepared": (d) => `${d.model ?? "model"}, ${counted(d.items, "message")}, ${counted(d.tokens, "token")}`,
  "context/replaced": (d) => d.reason ?? "",
  "recovery/applied": (d) => counted(d.repairs?.length, "repair"),
  "message/redacted": (d) => `message ${d.message_id}`,
  "turn/completed": (d) => d.outcome ?? "",
  "turn/failed": (d) => [d.outcome, d.error?.code, d.error?.detail].filter(Boolean).join(", "),
  "turn/suspended": (d) => `waiting for ${d.wait?.kind ?? "an answer"}`,
  "tool/decision": (d) => [d.behavior?.toUpperCase(), d.tool, d.because].filter(Boolean).join(" "),
  "tool/dispatch": (d) => `${d.tool}, effect ${d.effect}`,
  "tool/result": (d) => textOf(d.message) || d.call_id || "",
  "interaction/requested": (d) => `${d.kind}: ${d.tool ?? ""} ${d.because ?? ""}`,
  "interaction/resolved": (d) => [d.decision, d.by?.name && `by ${d.by.name}`, d.reason].filter(Boolean).join(" "),
};

/** Say an event in one line. */
export function brief(event) {
  const data = event.data ?? {};
  if (typeof data.delta === "string") return data.delta;
  const line = LINES[event.type]?.(data) || (data.message && textOf(data.message));
  if (line) return cut(line);
  const { block, offset, ...rest } = data;
  const shown = JSON.stringify(rest);
  return shown === "{}" ? "" : cut(shown);
}

const HUES = [
  [/^interaction\/requested|^turn\/suspended/, "wait"],
  [/^turn\/failed/, "bad"],
  [/^control\/|stop_requested|^turn\/(paused|cancelled)/, "held"],
];

/** The hue of a row: only what needs a person, failed, or was done by an operator has one. */
export function hueOf(event) {
  if (event.type === "run/end" && event.data?.status === "failed") return "bad";
  if (event.type === "tool/decision" && event.data?.behavior === "deny") return "bad";
  return HUES.find(([shape]) => shape.test(event.type))?.[1] ?? "";
}
