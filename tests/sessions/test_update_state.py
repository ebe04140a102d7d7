"""`update_agent_state`: what changes, what is refused, and what is left behind."""

from typing import Any

import pytest

from agentadmin.access.errors import Hidden, Refused
from agentadmin.audit.models import AuditEntry
from agentadmin.audit.verify import verify
from agentadmin.engine.errors import (
    AgentAdminError,
    IdempotencyMismatch,
    InteractionPending,
    InvalidInput,
    InvalidOperation,
    MissingReason,
    NeedsReconcile,
    NotFound,
    StaleVersion,
    StepUpRequired,
)
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.state.codec import loads
from sessions_app.models import AgentThread, IdempotencyKey, JournalFact, StateSnapshot
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import transcript
from sessions_app.services.idempotency import Answer
from sessions_app.services.update_state import update_agent_state
from tests.sessions.conftest import make_thread, say
from tests.sessions.people import OPERATOR, STRANGER, VIEWER, end_user, person

pytestmark = pytest.mark.django_db

CLEAR = {"op": "clear_context"}
DENY = {"op": "add_rule", "behavior": "deny", "tool_name": "execute", "source": "session"}
ALLOW = {**DENY, "behavior": "allow"}
REASON = "it runs in circles"


def update(thread: AgentThread, *operations: Any, **given: Any) -> Answer:
    wanted = {"actor": OPERATOR, "reason": REASON, "operations": list(operations), **given}
    return update_agent_state(thread=thread, **wanted)


def test_clearing_empties_the_context_and_keeps_the_history(thread: AgentThread) -> None:
    answer = update(thread, CLEAR)
    assert answer.status == 200
    assert answer.body["version"] == 2
    assert answer.body["diff"]["messages"]["after"] == 0
    assert answer.body["effects"] == ["4 messages leave the working context; history keeps them."]
    assert state_at(thread).state.context == ()
    history = transcript(thread).items
    assert [entry.message["content"][0]["text"] for entry in history] == [
        "one",
        "two",
        "three",
        "four",
    ]
    assert not any(entry.in_context for entry in history)


def test_clearing_keeps_rules_mode_and_reply_id(thread: AgentThread) -> None:
    update(thread, DENY, {"op": "set_permission_mode", "mode": "explore"})
    before = state_at(thread).state
    update(thread, CLEAR)
    after = state_at(thread).state
    assert after.permission_context == before.permission_context
    assert after.reply_id == before.reply_id


def test_all_operations_commit_together(thread: AgentThread) -> None:
    answer = update(thread, DENY, {"op": "set_summary", "summary": "so far"}, CLEAR)
    assert answer.body["version"] == 2
    assert StateSnapshot.objects.filter(thread=thread).count() == 2


def test_one_wrong_operation_stops_all_of_them(thread: AgentThread) -> None:
    with pytest.raises(InvalidOperation) as refused:
        update(thread, DENY, {"op": "set_permission_mode", "mode": "reckless"})
    assert (refused.value.index, refused.value.path) == (1, "mode")
    thread.refresh_from_db()
    assert thread.version == 1


@pytest.mark.parametrize(
    ("operations", "path"),
    [
        ([], "operations"),
        ({}, "operations"),
        ("clear_context", "operations"),
        ([{}], "op"),
        ([{"op": "drop_table"}], "op"),
        ([{"op": ["clear_context"]}], "op"),
        ([{**CLEAR, "more": 1}], "more"),
        ([{**DENY, "behavior": "maybe"}], "behavior"),
        ([{**DENY, "tool_name": " "}], "tool_name"),
        ([{**DENY, "expires_at": "tomorrow"}], "expires_at"),
        ([{"op": "set_summary"}], "summary"),
        ([{"op": "set_summary", "summary": 5}], "summary"),
    ],
)
def test_wrong_operations_are_refused_by_their_field(
    thread: AgentThread, operations: Any, path: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        update(thread, operations=operations)
    assert refused.value.path == path
    thread.refresh_from_db()
    assert (thread.version, thread.head_seq) == (1, 5)


@pytest.mark.parametrize("reason", [None, "", "  ", "x" * 2001, "\0", "\ud800", 7])
def test_a_reason_is_needed_and_can_be_stored(thread: AgentThread, reason: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        update(thread, CLEAR, reason=reason)
    assert refused.value.path == "reason"
    assert isinstance(refused.value, MissingReason) == (reason in (None, "", "  "))


def test_a_viewer_cannot_clear_the_context(thread: AgentThread) -> None:
    with pytest.raises(Refused) as refused:
        update(thread, CLEAR, actor=VIEWER)
    assert refused.value.permission == "sessions:clear"
    assert refused.value.target is not None
    assert refused.value.target.id == str(thread.id)


def test_a_stranger_does_not_learn_that_the_thread_exists(thread: AgentThread) -> None:
    with pytest.raises(Hidden) as hidden:
        update(thread, CLEAR, actor=STRANGER)
    assert isinstance(hidden.value, NotFound)


def test_an_end_user_reaches_only_threads_of_their_own() -> None:
    hers = make_thread(user_id="alice")
    assert update(hers, DENY, actor=end_user("alice")).status == 200
    with pytest.raises(NotFound):
        update(hers, DENY, actor=end_user("bob"))


def test_widening_needs_a_fresh_sign_in(thread: AgentThread) -> None:
    stale = person("olga", "operator", fresh=False)
    assert update(thread, DENY, actor=stale).status == 200
    for widening in (ALLOW, {"op": "set_permission_mode", "mode": "bypass"}, {**DENY, "op": "x"}):
        operation = {**DENY, "op": "remove_rule"} if widening["op"] == "x" else widening
        with pytest.raises(StepUpRequired):
            update(thread, operation, actor=stale)
    assert update(thread, ALLOW).body["diff"]["permission"]["widened"]


def test_a_rehearsal_says_what_would_happen_and_writes_nothing(thread: AgentThread) -> None:
    entries = AuditEntry.objects.count()
    answer = update(
        thread,
        CLEAR,
        ALLOW,
        dry_run=True,
        request_id="r1",
        actor=person("o", "operator", fresh=False),
    )
    assert answer.body["dry_run"]
    assert answer.body["widens"]
    assert answer.body["version"] == 1
    assert answer.body["diff"]["messages"]["removed"]
    thread.refresh_from_db()
    assert (thread.version, thread.head_seq) == (1, 5)
    assert AuditEntry.objects.count() == entries
    assert not IdempotencyKey.objects.exists()


def test_a_viewer_cannot_even_rehearse(thread: AgentThread) -> None:
    with pytest.raises(Refused):
        update(thread, CLEAR, actor=VIEWER, dry_run=True)


def test_the_audit_entry_holds_reason_patch_and_hashes(thread: AgentThread) -> None:
    answer = update(thread, DENY)
    entry = AuditEntry.objects.get(id=answer.body["audit_id"])
    body = loads(entry.body or "")
    assert (entry.action, entry.outcome, entry.reason) == ("state.update", "allowed", REASON)
    assert entry.target == f"thread:{thread.id}"
    assert entry.within == str(thread.session_id)
    assert body["content"]["patch"] == answer.body["diff"]
    snapshots = StateSnapshot.objects.filter(thread=thread).order_by("version")
    digests = [bytes(snapshot.digest).hex() for snapshot in snapshots]
    assert [body["content"]["before"], body["content"]["after"]] == digests
    assert AuditEntry.objects.order_by("-n").values_list("id", flat=True).first() == entry.id
    assert verify()["ok"]


def test_the_snapshot_says_who_and_why(thread: AgentThread) -> None:
    update(thread, CLEAR)
    newest = StateSnapshot.objects.get(thread=thread, version=2)
    thread.session.refresh_from_db()
    assert thread.session.updated_at == newest.created_at
    assert (newest.actor, newest.reason) == ("olga", REASON)


def test_the_same_request_is_answered_once(thread: AgentThread) -> None:
    first = update(thread, DENY, request_id="r-1")
    again = update(thread, DENY, request_id="r-1")
    assert again == first
    assert first.body["audit_id"] is not None
    thread.refresh_from_db()
    assert thread.version == 2


def test_a_request_id_with_another_body_is_a_mismatch(thread: AgentThread) -> None:
    update(thread, DENY, request_id="r-1")
    with pytest.raises(IdempotencyMismatch):
        update(thread, CLEAR, request_id="r-1")


def test_two_end_users_may_use_the_same_request_id(thread: AgentThread) -> None:
    hers, his = make_thread(user_id="alice"), make_thread(user_id="bob")
    assert update(hers, DENY, actor=end_user("alice"), request_id="1").status == 200
    assert update(his, CLEAR, actor=end_user("bob"), request_id="1").status == 200


def test_refusals_are_not_remembered(thread: AgentThread) -> None:
    with pytest.raises(StaleVersion):
        update(thread, DENY, request_id="r-1", expected_version=7)
    assert update(thread, DENY, request_id="r-1", expected_version=1).status == 200


def test_a_stale_version_is_told_with_what_has_changed(thread: AgentThread) -> None:
    update(thread, DENY)
    with pytest.raises(StaleVersion) as stale:
        update(thread, CLEAR, expected_version=1)
    assert stale.value.current == 2
    [rule] = stale.value.diff["permission"]["rules_added"]
    assert rule["tool"] == "execute"


def test_what_changes_nothing_makes_no_version_but_is_audited(thread: AgentThread) -> None:
    update(thread, DENY)
    answer = update(thread, DENY)
    assert answer.body["version"] == 2
    assert answer.body["diff"] == {}
    assert AuditEntry.objects.filter(id=answer.body["audit_id"]).exists()


def _asked(id_: str) -> tuple[NewFact, ...]:
    asked = {"interaction_id": id_, "kind": "approval", "call_id": "c1", "tool": "execute"}
    return (NewFact(FactType.INTERACTION_REQUESTED, {**asked, "input": {}}, "turn-1", "run-1"),)


@pytest.mark.parametrize("operation", [CLEAR, {"op": "set_summary", "summary": "x"}])
def test_a_waiting_thread_keeps_its_conversation(thread: AgentThread, operation: Any) -> None:
    say(thread, facts=_asked("i-1"))
    with pytest.raises(InteractionPending) as pending:
        update(thread, operation)
    assert pending.value.ids == ["i-1"]
    with pytest.raises(InteractionPending):
        update(thread, DENY, operation)


def test_a_waiting_thread_may_be_restricted(thread: AgentThread) -> None:
    say(thread, facts=_asked("i-1"))
    assert update(thread, DENY).status == 200


@pytest.mark.parametrize("operation", [CLEAR, DENY])
def test_an_unknown_outcome_refuses_everything(thread: AgentThread, operation: Any) -> None:
    call = {"call_id": "c1", "tool": "create_order", "effect": "external", "call_hash": "h"}
    say(thread, facts=(NewFact(FactType.TOOL_DISPATCH, call, "turn-1", "run-1"),))
    with pytest.raises(NeedsReconcile) as refused:
        update(thread, operation)
    assert refused.value.call_ids == ["c1"]


def test_a_fresh_thread_starts_from_what_its_agent_may_do(settings: Any) -> None:
    settings.AGENT_PERMISSIONS = "tests.sessions.test_update_state.allowed_to_read"
    fresh = make_thread()
    assert state_at(fresh).version == 0
    assert "read_file" in state_at(fresh).state.permission_context.allow_rules
    update(fresh, DENY)
    rules = state_at(fresh).state.permission_context
    assert "read_file" in rules.allow_rules
    assert "execute" in rules.deny_rules


def allowed_to_read(agent_id: str) -> Any:
    from agentadmin.engine.state.permissions import Behavior, PermissionContext, PermissionRule

    rule = PermissionRule("read_file", None, Behavior.ALLOW, "agent")
    return PermissionContext().with_rule(rule)


@pytest.mark.parametrize("text", ["\0", "\ud800", "\u202eevil", "<script>", "x" * 100_000])
def test_odd_texts_survive_in_rules(thread: AgentThread, text: str) -> None:
    update(thread, {**DENY, "tool_name": f"t{text}", "rule_content": text})
    [rule] = state_at(thread).state.permission_context.deny_rules[f"t{text}"]
    assert rule.rule_content == text


def test_every_error_leaves_the_journal_as_it_was(thread: AgentThread) -> None:
    facts = list(JournalFact.objects.filter(thread=thread).values_list("seq", "payload"))
    for given in ({"actor": VIEWER}, {"actor": STRANGER}, {"reason": ""}, {"expected_version": 9}):
        with pytest.raises(AgentAdminError):
            update(thread, CLEAR, **given)
    assert list(JournalFact.objects.filter(thread=thread).values_list("seq", "payload")) == facts
