"""Writing a state that came from a document: what nobody touched goes out as it came."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from agentadmin.engine.errors import AgentAdminError
from agentadmin.engine.state import codec
from agentadmin.engine.state.interop.losses import Losses
from agentadmin.engine.state.interop.written import Written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.interop.formats import Format
    from agentadmin.engine.state.interop.written import Source
    from agentadmin.engine.state.reading import Raw

    Read = Callable[[Any], AgentState]
    Write = Callable[[AgentState, "Known", Losses], Raw]


class Known:
    """The messages of the document that a state came from."""

    def __init__(self, raws: Iterable[Any] = ()) -> None:
        self._by_id: dict[str, Raw] = {}
        self._texts: set[str] = set()
        """Those without an id of their own."""
        for raw in raws:
            if isinstance(raw, dict):
                self._add(raw)

    def _add(self, raw: Raw) -> None:
        id_ = raw.get("id")
        if isinstance(id_, str) and id_ not in self._by_id:
            self._by_id[id_] = raw
        else:
            self._texts.add(codec.dumps(raw))

    def holds(self, raw: Raw) -> bool:
        """Whether the document has this very message."""
        id_ = raw.get("id")
        if isinstance(id_, str) and self._by_id.get(id_) == raw:
            return True
        return bool(self._texts) and codec.dumps(raw) in self._texts


_LEVELS = 3
"""How deep parts are compared one by one: a table of rules is one part, a rule is none."""


def restored(
    format: Format, state: AgentState, source: Source | None, read: Read, write: Write
) -> Written:
    """The document of a state, with the parts of its own document that still hold."""
    losses = Losses()
    then = _before(format, state, source, read)
    if then is None or source is None:
        return Written(format, write(state, Known(), losses), losses.told())
    if _same(state.to_dict(), then.to_dict()):
        return Written(format, source.value)
    known = Known(source.value.get("context") or ())
    now = write(state, known, losses)
    merged = _Merge(now, write(then, known, Losses()))
    value = merged.value(source.value)
    return Written(format, value, losses.told(tuple(merged.kept)))


def _before(
    format: Format, state: AgentState, source: Source | None, read: Read
) -> AgentState | None:
    """The state as its document had it; what is made up for a document is what it was then."""
    if source is None or source.format is not format or not isinstance(source.value, dict):
        return None
    try:
        then = read(source.value)
    except AgentAdminError:
        return None
    raw = source.value
    if raw and not raw.keys() & then.to_dict().keys():
        return None
    if raw.get("session_id") is None:
        then = then.with_identity(state.session_id, then.user_id, then.thread_id)
    if not _has_reply_id(raw):
        then.reply_id = state.reply_id
    return _with_task_ids(then, state, raw)


def _has_reply_id(raw: Raw) -> bool:
    reply = raw.get("reply_context")
    inner = reply.get("reply_id") if isinstance(reply, dict) else None
    return raw.get("reply_id") is not None or inner is not None


def _with_task_ids(then: AgentState, state: AgentState, raw: Raw) -> AgentState:
    """Tasks that came without an id got one when they were imported."""
    given = (raw.get("tasks_context") or {}).get("tasks") or []
    now = state.tasks_context.tasks
    if len(now) == len(given) and not all(task.get("id") for task in given):
        tasks = tuple(
            task if raw_task.get("id") else replace(task, id=mine.id)
            for task, raw_task, mine in zip(then.tasks_context.tasks, given, now, strict=True)
        )
        then.tasks_context = replace(then.tasks_context, tasks=tasks)
    return then


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is not true, and -0.0 is not 0."""
    if one != other:
        return False
    try:
        return orjson.dumps(one) == orjson.dumps(other)
    except TypeError:  # what orjson cannot write
        return codec.dumps(one) == codec.dumps(other)


class _Merge:
    """What is written now, what was written then, and what the document has in these places."""

    def __init__(self, now: Raw, then: Raw) -> None:
        self.now, self.then = now, then
        self.kept: list[str] = []
        """The paths of what the document itself gives."""

    def value(self, source: Raw) -> Raw:
        return self._object(self.now, self.then, source, "", _LEVELS)

    def _object(self, now: Raw, then: Raw, source: Raw, path: str, levels: int) -> Raw:
        merged: Raw = {}
        for name, given in source.items():
            place = f"{path}.{name}" if path else name
            if name not in now and name not in then:
                merged[name] = given
                self.kept.append(place)
            elif name in now:
                merged[name] = self._part(now, then, source, name, place, levels)
        for name, value in now.items():
            if name in source:
                continue
            place = f"{path}.{name}" if path else name
            if name not in then or not _same(value, then[name]):
                merged[name] = value
            else:
                self.kept.append(place)
        return merged

    def _part(self, now: Raw, then: Raw, source: Raw, name: str, place: str, levels: int) -> Any:
        new, old, given = now[name], then.get(name), source[name]
        if name in then and _same(new, old):
            self.kept.append(place)
            return given
        if levels and isinstance(new, dict) and isinstance(old, dict) and isinstance(given, dict):
            return self._object(new, old, given, place, levels - 1)
        return new
