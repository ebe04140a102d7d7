"""Messages: immutable views of raw objects, and their constructors."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Self

from agentadmin.engine.clock import message_timestamp, now
from agentadmin.engine.messages.blocks import Block, TextBlock, ToolResultBlock, text_of, wrap
from agentadmin.engine.messages.checks import check_message
from agentadmin.engine.messages.vocabulary import (
    CHAT_USAGE,
    GENERATE_REASON,
    SYNTHETIC,
    FinishReason,
    Role,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

Raw = dict[str, Any]

_ROLES = {name: role for role in Role for name in (role.value, role.value.lower())}


class Msg:
    """One message; two with the same raw object are equal."""

    __slots__ = ("_content", "raw")
    __hash__ = None  # type: ignore[assignment]  # a view of a dict has no stable hash

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self._content: tuple[Block, ...] | None = None

    @classmethod
    def from_dict(cls, raw: Any, path: str = "") -> Self:
        check_message(raw, path)
        return cls(raw)

    def to_dict(self) -> Raw:
        return self.raw

    @property
    def id(self) -> str | None:
        return self.raw.get("id")

    @property
    def name(self) -> str | None:
        return self.raw.get("name")

    @property
    def role(self) -> str | None:
        """A `Role`, also for Python's lower case; the raw value of an unknown one."""
        role = self.raw.get("role")
        return None if role is None else _ROLES.get(role, role)

    @property
    def content(self) -> tuple[Block, ...]:
        if self._content is None:
            raws = self.raw.get("content") or ()
            self._content = tuple(wrap(raw) for raw in raws if raw is not None)
        return self._content

    @property
    def metadata(self) -> Raw:
        return self.raw.get("metadata") or {}

    @property
    def timestamp(self) -> str | None:
        time = self.raw.get("timestamp") or self.raw.get("created_at")
        return time if isinstance(time, str) else None  # the latter is a free field in Java

    @property
    def usage(self) -> Raw | None:
        """Tokens as the provider counted them; 1.x kept them in the metadata."""
        return self.raw.get("usage") or self.metadata.get(CHAT_USAGE)

    @property
    def text(self) -> str:
        return text_of(self.content)

    @property
    def finish_reason(self) -> FinishReason:
        reason = self.metadata.get(GENERATE_REASON)
        known = FinishReason.__members__.get(reason) if isinstance(reason, str) else None
        return known or FinishReason.MODEL_STOP

    @property
    def synthetic(self) -> bool:
        """Put in by the system, not by a person."""
        return self.metadata.get(SYNTHETIC) is True

    def blocks[B: Block](self, kind: type[B]) -> tuple[B, ...]:
        """The content's blocks of one kind, in order."""
        return tuple(block for block in self.content if isinstance(block, kind))

    def replace(self, **fields: Any) -> Msg:
        return Msg({**self.raw, **fields})

    def with_content(self, blocks: Iterable[Block]) -> Msg:
        return self.replace(content=[block.raw for block in blocks])

    def with_block(self, index: int, block: Block) -> Msg:
        """The message with the block at `index` of `content` replaced."""
        content = list(self.content)
        content[index] = block
        return self.with_content(content)

    def with_metadata(self, **entries: Any) -> Msg:
        """The message with these metadata entries; None takes one away."""
        merged = {**self.metadata, **entries}
        return self.replace(metadata={k: v for k, v in merged.items() if v is not None})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Msg) and self.raw == other.raw

    def __repr__(self) -> str:
        return f"Msg({self.raw!r})"


def user_message(
    text_or_blocks: str | Iterable[Block], *, name: str = "user", metadata: Raw | None = None
) -> Msg:
    return _message(Role.USER, text_or_blocks, name, metadata)


def assistant_message(
    text_or_blocks: str | Iterable[Block],
    *,
    name: str,
    metadata: Raw | None = None,
    usage: Raw | None = None,
) -> Msg:
    return _message(Role.ASSISTANT, text_or_blocks, name, metadata, usage)


def system_message(text: str, *, name: str = "system") -> Msg:
    return _message(Role.SYSTEM, text, name)


def tool_message(result: ToolResultBlock, *, name: str) -> Msg:
    """The message that carries one result; its name is the agent's."""
    return _message(Role.TOOL, (result,), name)


def _message(
    role: Role,
    text_or_blocks: str | Iterable[Block],
    name: str,
    metadata: Raw | None = None,
    usage: Raw | None = None,
) -> Msg:
    blocks: Iterable[Block] = (
        (TextBlock.make(text_or_blocks),) if isinstance(text_or_blocks, str) else text_or_blocks
    )
    return Msg(
        {
            "id": str(uuid.uuid4()),
            "name": name,
            "role": role.value,
            "content": [block.raw for block in blocks],
            "metadata": metadata or {},
            "timestamp": message_timestamp(now()),
            "usage": usage,
        }
    )
