"""Questions whose time is over: denied once, by nobody, and their turns go on."""

from dataclasses import replace
from datetime import timedelta

import pytest

from agentadmin.access.actor import Actor
from agentadmin.audit.models import AuditEntry
from agentadmin.engine.agents.harness import HarnessAgent
from agentadmin.engine.clock import now
from agentadmin.engine.errors import AlreadyDecided, InvalidInput
from agentadmin.engine.tools.builtin import DEMO_TOOLS
from runs_app import executor
from runs_app.models import DemoOrder, Interaction
from runs_app.profiles import PROFILES
from runs_app.recorder import folded
from runs_app.services import expiring
from runs_app.services.expiring import expire_overdue
from runs_app.services.pause import pause_turn, resume_turn
from runs_app.services.respond import respond_interaction
from runs_app.services.submit import submit_turn
from sessions_app.journal.configured import thread_journal
from sessions_app.models import AgentThread
from tests.runs.conftest import Work, turn_of
from tests.runs.test_controls import texts

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo agent denies what nobody answers within an hour."""
    builder = HarnessAgent.builder().name("demo").model("offline:demo").tools(*DEMO_TOOLS)
    profile = PROFILES.get("demo")
    assert profile is not None
    builder = builder.thread_journal_store(thread_journal()).answer_within(3600)
    hasty = replace(profile, agent=builder.build())
    monkeypatch.setattr(executor, "profile_for", lambda *_: hasty)


@pytest.fixture
def asked(thread: AgentThread, actor: Actor, work: Work) -> Interaction:
    submit_turn(actor=actor, thread=thread, input='/tool create_order {"sku": "tea"}')
    work(thread)
    return Interaction.objects.select_related("thread").get()


def later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiring, "now", lambda: now() + timedelta(hours=2))


def test_a_question_expires_once_and_its_turn_goes_on_with_a_denial(
    thread: AgentThread, asked: Interaction, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked.expires_at is not None
    assert expire_overdue() == 0
    later(monkeypatch)
    assert (expire_overdue(), expire_overdue()) == (1, 0)
    asked.refresh_from_db()
    assert (asked.status, asked.decided_by) == ("expired", "")
    work(thread)
    assert turn_of(asked.turn_id).outcome == "done"
    assert not DemoOrder.objects.exists()
    assert texts(thread)[-1].startswith("create_order returned: Permission denied: nobody")
    entry = AuditEntry.objects.get(action="interactions.expire")
    assert entry.actor == "expiry"
    assert folded(str(thread.id)).interactions[asked.id].status == "expired"


def test_an_answer_that_comes_too_late_is_refused_before_any_sweep(
    asked: Interaction, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(monkeypatch)
    with pytest.raises(AlreadyDecided, match="the product decided"):
        respond_interaction(
            actor=actor, interaction_id=asked.id, decision="approve", call_hash=asked.call_hash
        )
    asked.refresh_from_db()
    assert asked.status == "expired"


def test_a_question_of_a_paused_turn_expires_and_the_turn_stays_paused(
    thread: AgentThread,
    asked: Interaction,
    actor: Actor,
    work: Work,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turn_id = asked.turn_id or ""
    pause_turn(actor=actor, turn_id=turn_id)
    later(monkeypatch)
    assert expire_overdue() == 1
    work(thread)
    assert turn_of(turn_id).state == "paused"
    resume_turn(actor=actor, turn_id=turn_id, revision=turn_of(turn_id).revision)
    work(thread)
    assert turn_of(turn_id).outcome == "done"


def test_patience_is_a_number_of_seconds() -> None:
    builder = HarnessAgent.builder()
    for wrong in (0, -1, 10**12):
        with pytest.raises(InvalidInput):
            builder.answer_within(wrong)
    builder.answer_within(None)
