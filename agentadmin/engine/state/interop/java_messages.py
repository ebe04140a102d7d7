"""Messages as AgentScope for Java reads them: a mixed reply is split at its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentadmin.engine.messages import Role
from agentadmin.engine.messages.vocabulary import (
    CONFIRM_REPLY_ID,
    EXTERNAL_REPLY_ID,
    GENERATE_REASON,
    FinishReason,
)
from agentadmin.engine.state.interop.java_blocks import NO_PLACE, java_block, java_blocks
from agentadmin.engine.state.interop.parts import kept
from agentadmin.engine.state.interop.times import java_time, java_usage, python_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentadmin.engine.messages import Msg
    from agentadmin.engine.messages.blocks import Raw
    from agentadmin.engine.state.interop.losses import Losses
    from agentadmin.engine.state.interop.sources import Known

STRUCTURED_OUTPUT: Final = "_structured_output"
"""Where Java keeps what a reply had to give in a certain form."""

REASONS: Final = {
    "completed": FinishReason.MODEL_STOP,
    "interrupted": FinishReason.INTERRUPTED,
    "exceed_max_iters": FinishReason.MAX_ITERATIONS,
}
"""How a reply ended, in Python's words and in Java's."""

PYTHON_FIELDS: Final = (
    *("name", "content", "role", "id", "metadata", "created_at", "usage"),
    *("finished_at", "finished_reason", "structured_output", "error"),
)

_ROLES = frozenset(role.value for role in Role)
_MEDIA = ("text", "data", "image", "audio", "video")
_MAY_HOLD = {Role.USER.value: _MEDIA, Role.SYSTEM.value: ("text",)}
_WAITING = {"asking": CONFIRM_REPLY_ID, "submitted": EXTERNAL_REPLY_ID}


def in_python_layout(raw: Raw) -> bool:
    """Whether AgentScope for Python wrote this message: its roles are lower case."""
    role = raw.get("role")
    return isinstance(role, str) and role.islower()


def java_context(context: Iterable[Msg], known: Known, losses: Losses) -> list[Raw]:
    """The messages for Java; those that the state's own file holds stay what they are."""
    messages: list[Raw] = []
    for index, message in enumerate(context):
        raw = message.raw
        path = f"context[{index}]"
        if known.holds(raw):
            messages.append(raw)
        elif in_python_layout(raw):
            messages.extend(_split(raw, path, losses))
        else:
            messages.append(_own(raw, path, losses))
    return messages


def _own(raw: Raw, path: str, losses: Losses) -> Raw:
    """A message in Java's layout, without what Java would refuse."""
    content = raw.get("content") or []
    blocks = java_blocks(content, f"{path}.content", losses)
    changed: Raw = {}
    if blocks != [block for block in content if block is not None]:
        changed["content"] = blocks
    role = raw.get("role")
    if role is not None and role not in _ROLES:
        losses.changed(f"{path}.role", f"the role {role[:40]!r} is unknown there")
        changed["role"] = Role.ASSISTANT.value
    for name, value in (raw.get("metadata") or {}).items():
        if value is None:
            losses.ignored(f"{path}.metadata.{name}", "Java forgets entries that are null")
    return {**raw, **changed} if changed else raw


def _split(raw: Raw, path: str, losses: Losses) -> list[Raw]:
    """The messages that one of Python's becomes."""
    role = str(raw["role"]).upper()
    if role not in _ROLES:
        losses.changed(f"{path}.role", f"the role {raw['role'][:40]!r} is unknown there")
        role = Role.ASSISTANT.value
    pieces = list(_pieces(raw, role, path, losses)) or [(role, [], raw.get("created_at"))]
    messages = [
        _piece(raw, number, *piece, losses=losses, path=path) for number, piece in enumerate(pieces)
    ]
    whole = _of_whole(raw, path, losses)
    whole["metadata"] |= messages[0]["metadata"]
    messages[0] |= whole
    _note_reason(raw, messages, path, losses)
    for name, value in kept(raw, PYTHON_FIELDS).items():
        if value is not None:
            losses.dropped(f"{path}.{name}", NO_PLACE)
    return messages


def _pieces(
    raw: Raw, role: str, path: str, losses: Losses
) -> Iterator[tuple[str, list[Raw], str | None]]:
    """Runs of blocks that one message may hold, each with its role and its time."""
    run: list[Raw] = []
    of_run, since = role, raw.get("created_at")
    for index, block in enumerate(raw.get("content") or []):
        place = f"{path}.content[{index}]"
        written = None if block is None else java_block(block, place, losses)
        if written is None:
            continue
        needed = _role_for(written, role)
        if needed not in (role, Role.TOOL.value) or (needed == Role.TOOL and role != "ASSISTANT"):
            losses.changed(f"{path}.role", f"a {role} may not hold a {written['type']} there")
        if run and (needed != of_run or needed == Role.TOOL):
            yield of_run, run, since
            run = []
        if not run:
            of_run, since = needed, block.get("created_at") or raw.get("created_at")
        run.append(written)
    if run:
        yield of_run, run, since


def _role_for(block: Raw, role: str) -> str:
    if block["type"] == "tool_result":
        return Role.TOOL.value
    return role if block["type"] in _MAY_HOLD.get(role, (block["type"],)) else "ASSISTANT"


def _piece(
    raw: Raw,
    number: int,
    role: str,
    blocks: list[Raw],
    time: Any,
    *,
    losses: Losses,
    path: str,
) -> Raw:
    id_ = raw.get("id")
    metadata = {
        _WAITING[block["state"]]: id_
        for block in blocks
        if block["type"] == "tool_use" and block.get("state") in _WAITING and id_
    }
    if time is not None and not isinstance(time, str):
        losses.dropped(f"{path}.created_at", "it is no text")
    return {
        "id": f"{id_}.{number}" if number and id_ is not None else id_,
        "name": raw.get("name"),
        "role": role,
        "content": blocks,
        "metadata": metadata,
        "timestamp": java_time(time) if isinstance(time, str) else None,
        "usage": None,
    }


def _of_whole(raw: Raw, path: str, losses: Losses) -> Raw:
    """What belongs to the reply as a whole stands in its first message."""
    metadata: Raw = {}
    for name, value in (raw.get("metadata") or {}).items():
        if value is None:
            losses.dropped(f"{path}.metadata.{name}", "null is forgotten there")
        else:
            metadata[name] = value
    whole: Raw = {"metadata": metadata}
    time = raw.get("created_at")
    if isinstance(time, str):
        whole["timestamp"] = java_time(time)
        if python_time(whole["timestamp"]) != time:
            losses.changed(f"{path}.created_at", "times are cut to milliseconds there")
    if isinstance(raw.get("usage"), dict):
        whole["usage"], left = java_usage(raw["usage"])
        for name in left:
            losses.dropped(f"{path}.usage.{name}", NO_PLACE)
    return whole


def _note_reason(raw: Raw, messages: list[Raw], path: str, losses: Losses) -> None:
    """How the reply ended stands where it ended; what it had to give, where it began."""
    reason = raw.get("finished_reason")
    if isinstance(reason, str) and reason in REASONS:
        last = next((m for m in reversed(messages) if m["role"] != Role.TOOL), messages[-1])
        last["metadata"] = {**last["metadata"], GENERATE_REASON: REASONS[reason].value}
    elif reason is not None:
        losses.dropped(f"{path}.finished_reason", NO_PLACE)
    if raw.get("structured_output") is not None:
        first = messages[0]
        first["metadata"] = {**first["metadata"], STRUCTURED_OUTPUT: raw["structured_output"]}
    for name in ("finished_at", "error"):
        if raw.get(name) is not None:
            losses.dropped(f"{path}.{name}", NO_PLACE)
