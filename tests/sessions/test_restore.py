"""Restoring: an earlier version comes back as the newest one, and nothing is lost."""

from dataclasses import replace
from typing import Any

import pytest
from django.db.models import Q

from agentadmin.access.actor import Actor, Grant
from agentadmin.engine.errors import (
    Forbidden,
    InteractionPending,
    InvalidOperation,
    NeedsReconcile,
    StepUpRequired,
)
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.messages import user_message
from sessions_app.journal.rows import read_facts
from sessions_app.models import AgentThread, ControlRequest, JournalFact, StateSnapshot
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import transcript
from sessions_app.services.update_state import update_agent_state
from sessions_app.states import ControlState
from tests.sessions.conftest import change_message, make_thread, say
from tests.sessions.holding import Held
from tests.sessions.people import OPERATOR, person

pytestmark = pytest.mark.django_db

CLEAR = {"op": "clear_context"}
ALLOW = {"op": "add_rule", "behavior": "allow", "tool_name": "execute", "source": "session"}
DENY = {**ALLOW, "behavior": "deny"}


def update(
    thread: AgentThread, *operations: dict[str, Any], actor: Actor = OPERATOR, **given: Any
) -> dict[str, Any]:
    answer = update_agent_state(
        actor=actor, thread=thread, reason="wrong turn", operations=list(operations), **given
    )
    thread.refresh_from_db()
    return answer.body


def restore(version: Any) -> dict[str, Any]:
    return {"op": "restore", "version": version}


def facts_after(thread: AgentThread, seq: int) -> list[tuple[str, dict[str, Any]]]:
    found = read_facts(Q(thread_id=thread.id, seq__gt=seq), 100)
    return [(fact.type, fact.payload) for fact in found]


def test_cleared_messages_come_back_by_reference(thread: AgentThread) -> None:
    before = state_at(thread, 1).state
    update(thread, CLEAR)
    told = update(thread, restore(1))
    assert state_at(thread).state == before
    assert told["version"] == 3
    assert len(told["diff"]["messages"]["added"]) == 4
    replaced, restored = facts_after(thread, told["seq"] - 2)
    assert replaced[0] == "context/replaced"
    assert replaced[1]["reason"] == "restore of version 1"
    assert all("message" not in entry for entry in replaced[1]["items"])
    assert restored == ("state/restored", {"version": 1, "seq": state_at(thread, 1).seq})


def test_the_version_keeps_why_and_which_one_came_back(thread: AgentThread) -> None:
    update(thread, CLEAR)
    update(thread, restore(1))
    row = StateSnapshot.objects.get(thread=thread, version=3)
    assert (row.reason, row.actor) == ("restore of version 1: wrong turn", "olga")


def test_the_history_keeps_what_came_between(thread: AgentThread) -> None:
    say(thread, "five", "six")
    update(thread, restore(1))
    shown = [e.message["content"][0]["text"] for e in transcript(thread, limit=50).items]
    assert shown == ["one", "two", "three", "four", "five", "six"]
    assert len(state_at(thread).state.context) == 4
    assert len(state_at(thread, 2).state.context) == 6


def test_an_earlier_wording_comes_back_as_the_fact_that_holds_it(thread: AgentThread) -> None:
    raw = {**state_at(thread).state.context[1].to_dict(), "name": "changed"}
    change_message(thread, 1, raw)
    told = update(thread, restore(1))
    assert told["diff"]["messages"]["changed"] == [raw["id"]]
    assert state_at(thread).state == state_at(thread, 1).state
    [(_, replaced), _] = facts_after(thread, told["seq"] - 2)
    assert all("message" not in entry for entry in replaced["items"])


def test_restores_across_restores_stay_true(thread: AgentThread) -> None:
    update(thread, CLEAR, {"op": "set_summary", "summary": "four messages"})
    say(thread, "five")
    update(thread, restore(1))
    update(thread, restore(3))
    update(thread, restore(4))
    for version, source in ((4, 1), (5, 3), (6, 4)):
        assert state_at(thread, version).state == state_at(thread, source).state
    inline = JournalFact.objects.filter(
        thread=thread, type="context/replaced", payload__contains='"message"'
    )
    assert not inline.exists()


def test_only_permissions_change_where_the_messages_are_the_same(thread: AgentThread) -> None:
    update(thread, DENY)
    told = update(thread, restore(1))
    types = [type_ for type_, _ in facts_after(thread, told["seq"] - 2)]
    assert types == ["permission/changed", "state/restored"]


def test_restoring_the_present_changes_nothing(thread: AgentThread) -> None:
    told = update(thread, restore(1))
    assert (told["version"], told["diff"], told["effects"]) == (1, {}, [])
    assert facts_after(thread, told["seq"]) == []


def test_what_a_later_field_said_is_gone_also_for_the_fold(thread: AgentThread) -> None:
    held = Held(thread)
    held.writer.state.extra["later"] = 1
    held.end()
    update(thread, restore(1))
    [changed] = [p for t, p in facts_after(thread, 0) if "~removed" in p and t == "state/changed"]
    assert changed == {"~removed": ["later"]}
    assert state_at(thread).state.extra == {}


@pytest.mark.parametrize("version", [0, -1, 2, 10**20, "1", 1.0, True, None])
def test_a_version_that_is_not_there_is_named(thread: AgentThread, version: Any) -> None:
    with pytest.raises(InvalidOperation) as refused:
        update(thread, CLEAR, restore(version))
    assert (refused.value.index, refused.value.path) == (1, "version")
    assert state_at(thread).version == 1


def test_nobody_smuggles_a_state_in(thread: AgentThread) -> None:
    with pytest.raises(InvalidOperation) as refused:
        update(thread, {**restore(1), "state": state_at(thread).state.to_dict()})
    assert refused.value.path == "state"


def test_bringing_a_grant_back_is_widening(thread: AgentThread) -> None:
    update(thread, ALLOW)
    update(thread, {**ALLOW, "op": "remove_rule"})
    stale = person("olga", "operator", fresh=False)
    with pytest.raises(StepUpRequired):
        update(thread, restore(2), actor=stale)
    assert update(thread, restore(2), actor=stale, dry_run=True)["widens"]
    assert update(thread, restore(1), actor=stale, dry_run=True)["widens"] is False
    assert update(thread, restore(2))["diff"]["permission"]["widened"] == [
        "adds the rule allow execute"
    ]


@pytest.mark.parametrize(
    ("between", "missing"), [(CLEAR, "sessions:clear"), (DENY, "permissions:edit")]
)
def test_a_restore_needs_the_permissions_of_what_it_changes(
    thread: AgentThread, between: dict[str, Any], missing: str
) -> None:
    update(thread, between)
    only = Grant(frozenset({"sessions:read", "sessions:restore"}))
    actor = replace(OPERATOR, grants=(only,))
    for dry_run in (True, False):
        with pytest.raises(Forbidden) as refused:
            update(thread, restore(1), actor=actor, dry_run=dry_run)
        assert refused.value.permission == missing
    more = replace(only, permissions=only.permissions | {missing, "permissions:widen"})
    assert update(thread, restore(1), actor=replace(actor, grants=(more,)))["version"] == 3


def test_a_parked_thread_is_not_restored(thread: AgentThread) -> None:
    say(thread, "five")
    asked = {"interaction_id": "i-1", "kind": "approval", "call_id": "c1", "tool": "execute"}
    fact = NewFact(FactType.INTERACTION_REQUESTED, {**asked, "input": {}}, "turn-1", "run-1")
    say(thread, facts=(fact,))
    with pytest.raises(InteractionPending):
        update(thread, restore(1))


def test_unknown_outcomes_come_first(thread: AgentThread) -> None:
    call = {"call_id": "c1", "tool": "create_order", "effect": "external", "call_hash": "h"}
    say(thread, facts=(NewFact(FactType.TOOL_DISPATCH, call, "turn-1", "run-1"),))
    with pytest.raises(NeedsReconcile):
        update(thread, restore(1))


def test_a_restore_waits_for_the_turns_end_and_refers_then_too(thread: AgentThread) -> None:
    update(thread, CLEAR)
    held = Held(thread)
    told = update(thread, restore(1), on_busy="wait")
    held.between_steps()
    held.writer.state.context_mutable().append(user_message("in the meantime"))
    held.at_the_end()
    held.end()
    control = ControlRequest.objects.get(id=told["control_id"])
    assert control.state == ControlState.EFFECTIVE, control.result
    assert state_at(thread).state.context == state_at(thread, 1).state.context
    [replaced] = [p for t, p in facts_after(thread, 6) if t == "context/replaced"]
    assert all("message" not in entry for entry in replaced["items"])


def test_a_dry_run_of_a_restore_writes_nothing(thread: AgentThread) -> None:
    update(thread, CLEAR)
    seq = thread.head_seq
    told = update(thread, restore(1), dry_run=True)
    assert told["effects"] == ["4 messages more in the working context."]
    assert (thread.head_seq, thread.version) == (seq, 2)


def test_a_restore_on_a_version_that_moved_is_stale(thread: AgentThread) -> None:
    other = make_thread()
    say(other, "x")
    update(thread, CLEAR)
    with pytest.raises(Exception, match="moved on to version 2"):
        update(thread, restore(1), expected_version=1)
