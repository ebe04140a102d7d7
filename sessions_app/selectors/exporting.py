"""Export: a thread's state as a document that other systems read, and what that costs."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from agentadmin.engine.clock import iso
from agentadmin.engine.errors import DecodeError
from agentadmin.engine.identity import MAIN_THREAD
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.state import codec, interop
from agentadmin.engine.state.interop import Format, Loss, Source
from agentadmin.engine.state.permissions import PermissionContext
from sessions_app.journal.documents import kept_document
from sessions_app.journal.rows import read_facts
from sessions_app.selectors.threads import state_at

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.engine.state.agent_state import AgentState
    from sessions_app.models import AgentThread

FROM_AGENT = "agent"
_ODD = re.compile(r"[^\w.@+-]+")
_MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class Export:
    """A document in a format; `untouched` says that it is the imported file itself."""

    format: Format
    version: int
    value: Any
    text: str
    losses: tuple[Loss, ...] = ()
    untouched: bool = False
    name: str = "state"
    as_of: datetime | None = None
    """When the version was committed."""

    @property
    def file_name(self) -> str:
        """`s-001.agentscope-java.json`, whatever characters the session's id has."""
        return f"{self.name}.{self.format}.json"


@dataclass(frozen=True, slots=True)
class _Origin:
    """The fact that a thread began with, and the file that it was imported from."""

    baseline: dict[str, Any]
    text: str | None
    value: Any

    @property
    def source(self) -> Source | None:
        """The file as the writers take it; 1.x kept messages and groups, not a state."""
        if not isinstance(self.value, dict) or self.baseline.get("legacy"):
            return None
        return Source(Format(self.baseline["source"]), self.value)


def export_thread(
    thread: AgentThread, format: str = Format.NATIVE, *, version: int | None = None
) -> Export:
    """A state, the newest unless told, as a document; an imported one keeps its file's identity.

    A session that nobody has touched since goes out in its own format as it came in.
    """
    kind = interop.named(format)
    found = state_at(thread, version)
    origin = _origin(thread)
    source = origin.source if origin else None
    name = _file_stem(thread)
    if origin and source and origin.text and source.format is kind and found.version == 1:
        return Export(
            kind, 1, source.value, origin.text, untouched=True, name=name, as_of=found.as_of
        )
    state = found.state if origin is None else _as_imported(origin, found.state)
    written = interop.write(state, kind, source=source)
    return Export(
        kind,
        found.version,
        written.value,
        written.text(),
        written.losses,
        name=name,
        as_of=found.as_of,
    )


def export_report(export: Export) -> dict[str, Any]:
    """What a document would not say, or its reader not heed."""
    return {
        "format": str(export.format),
        "version": export.version,
        "as_of": None if export.as_of is None else iso(export.as_of),
        "untouched": export.untouched,
        "losses": [asdict(loss) for loss in export.losses],
    }


def export_state(thread: AgentThread, format: str = Format.NATIVE) -> Any:
    """The document's value alone."""
    return export_thread(thread, format).value


def export_text(thread: AgentThread, format: str = Format.NATIVE) -> str:
    """The document's text alone, written as its own system writes it."""
    return export_thread(thread, format).text


def _origin(thread: AgentThread) -> _Origin | None:
    """Where an imported thread came from; None for one that began here."""
    found = read_facts(Q(thread_id=thread.id, type=FactType.BASELINE), 1)
    baseline = found[0].payload if found else {}
    if "identity" not in baseline:
        return None
    text = kept_document(thread, baseline["document"])
    return _Origin(baseline, text, _value_of(text))


def _value_of(text: str | None) -> Any:
    """The file's value; one of JSON lines has none as a whole."""
    if text is None:
        return None
    try:
        return codec.loads(text)
    except DecodeError:
        return None


def _as_imported(origin: _Origin, state: AgentState) -> AgentState:
    baseline = origin.baseline
    file = baseline["identity"]
    state = state.with_identity(
        file["session_id"] or state.session_id, file["user_id"], file["thread_id"] or MAIN_THREAD
    )
    if baseline["permissions"] == FROM_AGENT:
        state.permission_context = _of_file(origin, state.permission_context)
    return state


def _of_file(origin: _Origin, now: PermissionContext) -> PermissionContext:
    """The file's own permissions, as long as nobody has changed those that stood in for them."""
    if now.to_dict() != origin.baseline["substate"]["permission_context"]:
        return now
    given = origin.value.get("permission_context") if isinstance(origin.value, dict) else None
    return now if given is None else PermissionContext.from_dict(given)


def _file_stem(thread: AgentThread) -> str:
    """The session's id, and the thread's where it is not the main one, as a file may be called."""
    parts = [thread.session.session_id]
    parts += [thread.thread_id] if thread.thread_id != MAIN_THREAD else []
    stems = [_ODD.sub("-", part).strip("-.")[:_MAX_NAME] for part in parts]
    return ".".join(filter(None, stems)) or "state"
