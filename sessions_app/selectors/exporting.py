"""Export: a thread's state as a document that other systems read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Q

from agentadmin.engine.identity import MAIN_THREAD
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.state import codec, interop
from agentadmin.engine.state.interop import Format, java
from agentadmin.engine.state.permissions import PermissionContext
from sessions_app.journal.documents import kept_document
from sessions_app.journal.rows import read_facts
from sessions_app.selectors.threads import state_at

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState
    from sessions_app.models import AgentThread


def export_state(thread: AgentThread, format: str = Format.NATIVE) -> dict[str, Any]:
    """The newest state as a document; an imported one keeps the identity of its file."""
    interop.named(format)
    document: dict[str, Any] = interop.write(
        _as_imported(thread, state_at(thread).state), format
    ).value
    return document


def export_text(thread: AgentThread, format: str = Format.NATIVE) -> str:
    """The same, written as its own system writes it."""
    kind = interop.named(format)
    if kind is Format.JAVA:
        return java.write_text(_as_imported(thread, state_at(thread).state))
    return codec.pretty(export_state(thread, kind))


def _as_imported(thread: AgentThread, state: AgentState) -> AgentState:
    found = read_facts(Q(thread_id=thread.id, type=FactType.BASELINE), 1)
    baseline = found[0].payload if found else {}
    if "identity" not in baseline:
        return state
    file = baseline["identity"]
    state = state.with_identity(
        file["session_id"] or state.session_id, file["user_id"], file["thread_id"] or MAIN_THREAD
    )
    if baseline["permissions"] == "agent":
        state.permission_context = _of_file(thread, baseline, state.permission_context)
    return state


def _of_file(
    thread: AgentThread, baseline: dict[str, Any], now: PermissionContext
) -> PermissionContext:
    """The file's own permissions, as long as nobody has changed those that stood in for them."""
    if now.to_dict() != baseline["substate"]["permission_context"]:
        return now
    text = kept_document(thread, baseline["document"])
    value = codec.loads(text) if text is not None else None
    given = value.get("permission_context") if isinstance(value, dict) else None
    return now if given is None else PermissionContext.from_dict(given)
