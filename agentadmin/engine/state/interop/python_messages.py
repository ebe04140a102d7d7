"""Messages as AgentScope for Python reads them: one reply, with its results, is one message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from agentadmin.engine.messages import Role, ToolCallState, ToolResultBlock
from agentadmin.engine.messages.vocabulary import GENERATE_REASON
from agentadmin.engine.state.interop.java_messages import (
    REASONS,
    STRUCTURED_OUTPUT,
    in_python_layout,
)
from agentadmin.engine.state.interop.parts import kept
from agentadmin.engine.state.interop.python_blocks import NO_PLACE, is_python, python_block
from agentadmin.engine.state.interop.times import added_usage, python_time, python_usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentadmin.engine.messages import Msg
    from agentadmin.engine.messages.blocks import Raw
    from agentadmin.engine.state.interop.losses import Losses
    from agentadmin.engine.state.interop.sources import Known

_NATIVE_FIELDS: Final = (
    *("id", "name", "role", "content", "metadata", "timestamp", "created_at", "usage"),
    *("finished_at", "finished_reason", "structured_output", "error"),
)
_REASONS: Final = {str(java): python for python, java in REASONS.items()}
_ONE_MESSAGE = "a reply is one message there"


def python_context(context: Iterable[Msg], known: Known, losses: Losses) -> list[Raw]:
    """The messages for Python; those that it wrote itself stay what they are."""
    fold = _Fold(known, losses)
    for index, message in enumerate(context):
        fold.add(message, f"context[{index}]")
    return fold.messages


@dataclass(slots=True)
class _Fold:
    """The messages so far, and where the next part of a reply belongs."""

    known: Known
    losses: Losses
    messages: list[Raw] = field(default_factory=list)
    reply: int | None = None
    """The assistant message that further rounds belong to."""
    after_result: bool = False
    holders: dict[str, int] = field(default_factory=dict)
    """Where each call stands."""
    own: set[int] = field(default_factory=set)
    """The messages that were made here, so that adding to them touches no state."""

    def add(self, message: Msg, path: str) -> None:
        if in_python_layout(message.raw):
            self._put(self._kept(message.raw, path), made=False)
        elif message.role == Role.TOOL:
            self._add_results(message, path)
        elif message.role in (Role.USER, Role.SYSTEM):
            self._put(self._made(message, str(message.role).lower(), path))
        elif self.reply is not None and self.after_result and self._same_speaker(message):
            self._continue(message, path)
        else:
            self._put(self._assistant(message, path))

    def _put(self, raw: Raw, *, made: bool = True) -> None:
        place = len(self.messages)
        self.messages.append(raw)
        self.reply = place if raw.get("role") == "assistant" else None
        self.after_result = False
        if made:
            self.own.add(place)
        self._note_calls(raw.get("content") or [], place)

    def _note_calls(self, blocks: list[Any], place: int) -> None:
        for block in blocks:
            if block is not None and block.get("type") == "tool_call":
                self.holders[block.get("id") or ""] = place

    def _same_speaker(self, message: Msg) -> bool:
        return self.reply is not None and self.messages[self.reply].get("name") == message.name

    def _kept(self, raw: Raw, path: str) -> Raw:
        """A message of Python's; only what was put into it since takes Python's form."""
        content = raw.get("content") or []
        if self.known.holds(raw) or all(map(is_python, content)):
            return raw
        return {**raw, "content": self._blocks(content, path)}

    def _blocks(self, content: list[Any], path: str) -> list[Raw]:
        blocks = []
        for index, raw in enumerate(content):
            if raw is not None:
                block = python_block(raw, f"{path}.content[{index}]", self.losses)
                if block is not None:
                    blocks.append(block)
        return blocks

    def _assistant(self, message: Msg, path: str) -> Raw:
        role = message.raw.get("role")
        if role != Role.ASSISTANT:
            name = "a missing role" if role is None else f"the role {role[:40]!r}"
            self.losses.changed(f"{path}.role", f"{name} is unknown there")
        return self._made(message, "assistant", path)

    def _made(self, message: Msg, role: str, path: str) -> Raw:
        raw = message.raw
        made: Raw = {
            "name": raw.get("name") or role,
            "content": self._blocks(raw.get("content") or [], path),
            "role": role,
        }
        if raw.get("id") is not None:
            made["id"] = raw["id"]
        made["metadata"] = message.metadata
        time = message.timestamp
        if isinstance(time, str):
            made["created_at"] = python_time(time)
        made["usage"] = self._usage(raw, path)
        made |= {"finished_at": None, **self._ending(message)}
        self._tell_others(raw, path)
        return made

    def _ending(self, message: Msg) -> Raw:
        reason = message.metadata.get(GENERATE_REASON)
        output = message.metadata.get(STRUCTURED_OUTPUT)
        return {
            "finished_reason": _REASONS.get(reason) if isinstance(reason, str) else None,
            "structured_output": output if isinstance(output, dict) else None,
            "error": None,
        }

    def _usage(self, raw: Raw, path: str) -> Raw | None:
        if raw.get("usage") is None:
            return None
        usage, left = python_usage(raw["usage"])
        for name in left:
            self.losses.dropped(f"{path}.usage.{name}", NO_PLACE)
        return usage

    def _tell_others(self, raw: Raw, path: str) -> None:
        for name, value in kept(raw, _NATIVE_FIELDS).items():
            if value is not None:
                self.losses.dropped(f"{path}.{name}", NO_PLACE)

    def _continue(self, message: Msg, path: str) -> None:
        """A further round of the reply."""
        reply = self._open(self.reply)
        round_ = self._made(message, "assistant", path)
        reply["content"] += round_["content"]
        reply["usage"] = added_usage(reply.get("usage"), round_["usage"])
        for name, value in round_["metadata"].items():
            if name in reply["metadata"] and reply["metadata"][name] != value:
                self.losses.dropped(f"{path}.metadata.{name}", _ONE_MESSAGE)
        reply["metadata"] = {**round_["metadata"], **reply["metadata"]}
        for name in ("finished_reason", "structured_output"):
            if round_[name] is not None:
                reply[name] = round_[name]
        self.after_result = False
        self._note_calls(round_["content"], self.reply or 0)
        self._tell_folded(message, path)

    def _add_results(self, message: Msg, path: str) -> None:
        """Each result goes to the message of its call; one without a call starts a reply."""
        for index, block in enumerate(message.content):
            self._add_result(message, block, f"{path}.content[{index}]")
        if message.metadata:
            self.losses.dropped(f"{path}.metadata", _ONE_MESSAGE)
        if message.usage:
            self.losses.dropped(f"{path}.usage", _ONE_MESSAGE)
        self._tell_others(message.raw, path)
        self._tell_folded(message, path)

    def _add_result(self, message: Msg, block: Any, path: str) -> None:
        place = self.reply
        if isinstance(block, ToolResultBlock):
            place = self.holders.get(block.id, place)
            if block.suspended and place is not None:
                self._set_state(place, block.id, ToolCallState.SUBMITTED)
                self.losses.changed(path, "a call that waits for its result is `submitted` there")
                return
        written = python_block(block.raw, path, self.losses)
        if written is None:
            return
        if place is None:
            self._put({"name": message.name or "assistant", "content": [], "role": "assistant"})
            place = self.reply
        if "created_at" not in written and message.timestamp is not None:
            written = {**written, "created_at": python_time(message.timestamp)}
        self._open(place)["content"].append(written)
        if isinstance(block, ToolResultBlock) and place is not None:
            self._set_state(place, block.id, ToolCallState.FINISHED)  # Java leaves it `allowed`
        self.after_result = True

    def _set_state(self, place: int, call_id: str, state: ToolCallState) -> None:
        """The oldest call of this id that has not finished takes this state."""
        content = self._open(place)["content"]
        for index, block in enumerate(content):
            mine = block.get("type") == "tool_call" and block.get("id") == call_id
            if mine and block.get("state") != ToolCallState.FINISHED:
                content[index] = {**block, "state": state.value}
                return

    def _open(self, place: int | None) -> Raw:
        """The message at a place, as one that may be changed."""
        place = place or 0
        if place not in self.own:
            raw = self.messages[place]
            content = [block for block in raw.get("content") or [] if block is not None]
            self.messages[place] = {**raw, "content": content}
            self.own.add(place)
        message = self.messages[place]
        message["metadata"] = message.get("metadata") or {}
        return message

    def _tell_folded(self, message: Msg, path: str) -> None:
        for name in ("id", "timestamp"):
            if message.raw.get(name) is not None:
                self.losses.dropped(f"{path}.{name}", _ONE_MESSAGE)
