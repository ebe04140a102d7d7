"""What a conversation shows below its messages: the queue, unknown outcomes, the message box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.urls import reverse

from agentadmin.engine.identity import new_id
from agentadmin.engine.journal.facts import FactType
from runs_app.forms import OUTCOMES, ReconcileForm
from runs_app.pages.approval import card_of
from runs_app.pages.conversation import head_turn, queued
from runs_app.policies import MANAGE_AGENTS, RECONCILE, SUBMIT
from runs_app.selectors.agents import is_known
from runs_app.selectors.interactions import open_interactions
from runs_app.states import WaitKind
from sessions_app.journal.unreadable import column_list
from sessions_app.policies import may_thread
from sessions_app.selectors.facts import fact_page

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from runs_app.models import Turn
    from sessions_app.models import AgentThread


def now_of(actor: Actor, thread: AgentThread) -> dict[str, Any]:
    """The context of `runs/_now.html` and of the message box."""
    turn = head_turn(thread)
    return {
        "queued": queued(thread) if thread.queued_turns else [],
        "reconcile": uncertain_calls(thread, turn),
        "outcomes": OUTCOMES,
        "may_reconcile": may_thread(actor, RECONCILE, thread),
        "cards": _cards(actor, thread),
        "undefined": _undefined(actor, thread, turn),
        "may_submit": may_thread(actor, SUBMIT, thread),
        "submit_permission": SUBMIT,
        "request_id": new_id(),
    }


def _undefined(actor: Actor, thread: AgentThread, turn: Turn | None) -> dict[str, str] | None:
    """The agent that the head turn waits for, and where it can be defined."""
    if turn is None or turn.wait_kind != WaitKind.DEFINITION:
        return None
    agent_id = thread.agent_id
    known = is_known(agent_id)
    where = reverse("agent", args=[agent_id]) if known else reverse("agent_new")
    query = "" if known else f"?{urlencode({'agent_id': agent_id})}"
    may = actor.may_everywhere(MANAGE_AGENTS)
    return {
        "id": agent_id,
        "why": "was retired" if known else "is not defined here",
        "url": f"{where}{query}" if may else "",
    }


def _cards(actor: Actor, thread: AgentThread) -> dict[str, Any]:
    """The open questions by their id; `_call.html` shows each at its call."""
    if not thread.pending_interactions:
        return {}
    cards = {}
    for asked in open_interactions(thread):
        asked.thread = thread
        cards[asked.id] = card_of(actor, asked)
    return cards


def uncertain_calls(thread: AgentThread, turn: Turn | None) -> list[dict[str, Any]]:
    """The calls that were started and whose outcome nobody knows."""
    ids = reconcile_ids(turn)
    if not ids or turn is None:
        return []
    started = fact_page(thread, types=[FactType.TOOL_DISPATCH], turn_id=turn.id, limit=200).items
    known = {str(fact.payload.get("call_id")): fact for fact in started}
    return [
        {"id": id_, "n": n, "tool": known[id_].payload.get("tool") if id_ in known else id_}
        for n, id_ in enumerate(ids)
    ]


def reconcile_ids(turn: Turn | None) -> list[str]:
    """The ids that a turn waits to be told about."""
    if turn is None or turn.wait_kind != WaitKind.RECONCILE:
        return []
    return [str(id_) for id_ in column_list(turn.wait_ids)]


def reconcile_form(turn: Turn | None, given: Any) -> ReconcileForm:
    """The form with one row a call."""
    return ReconcileForm(reconcile_ids(turn), given)
