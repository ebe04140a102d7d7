"""A live view as a client holds it: a snapshot, and the events applied to it."""

from __future__ import annotations

from typing import Any

_RESULT = "tool_result"


class View:
    """Applies events by id and offset, as contract §3 lets a client do."""

    def __init__(self, snapshot: dict[str, Any]) -> None:
        self.cursor: str = snapshot["cursor"]
        self.seq: int = snapshot["seq"]
        self.seqs: list[int] = []
        self._inputs = {int(seq): given for seq, given in snapshot["inputs"].items()}
        self._messages = {e["item"]: e["message"] for e in snapshot["messages"]["items"]}
        self._blocks: dict[str, dict[str, Any]] = {b["block"]: dict(b) for b in snapshot["blocks"]}
        self._told: set[str] = set()

    def page(self) -> dict[str, Any]:
        """What the view shows."""
        texts = {name: (b["offset"], b["text"]) for name, b in sorted(self._blocks.items())}
        return {"messages": list(self._messages.items()), "blocks": texts}

    def apply(self, frame: dict[str, Any]) -> None:
        """Take one event in."""
        self.cursor = frame["cursor"]
        event = frame["event"]
        if "seq" in event:
            self.seqs.append(event["seq"])
            self._apply_fact(event)
        elif event["data"]["block"] not in self._told:
            self._apply_delta(event)

    def _apply_fact(self, event: dict[str, Any]) -> None:
        data, type_ = event["data"], event["type"]
        if type_ == "turn/start":
            self._inputs[event["seq"]] = data["input"]
        elif type_ == "message/user" and "input" in data:
            self._messages[data["item"]] = self._inputs[data["input"]["seq"]][0]
        elif type_ in {"message/user", "message/assistant", "tool/result"}:
            self._messages[data["item"]] = data["message"]
        self._end_blocks(event)

    def _end_blocks(self, event: dict[str, Any]) -> None:
        type_ = event["type"]
        for name, block in list(self._blocks.items()):
            if block["run_id"] != event["run_id"]:
                continue
            is_result = block["type"] == _RESULT
            if (
                (type_ == "message/assistant" and not is_result)
                or (type_ == "tool/result" and is_result and block["call_id"] == _call(event))
                or type_ == "run/end"
            ):
                del self._blocks[name]
                self._told.add(name)

    def _apply_delta(self, event: dict[str, Any]) -> None:
        data = event["data"]
        name, suffix = data["block"], event["type"].rpartition("_")[2]
        fresh = {
            "type": event["type"].removesuffix(f"_{suffix}"),
            "run_id": event["run_id"],
            "call_id": data.get("call_id"),
            "offset": 0,
            "text": "",
        }
        block = self._blocks.setdefault(name, fresh)
        if suffix == "delta":
            if not block["text"]:
                block["offset"] = data["offset"]
            end = block["offset"] + len(block["text"])
            block["text"] += data["delta"][max(0, end - data["offset"]) :]


def _call(event: dict[str, Any]) -> str:
    call_id: str = event["data"]["call_id"]
    return call_id
