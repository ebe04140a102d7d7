"""The demo's sessions are really run, once, and show what there is to see."""

import io

import pytest
from django.core.management import call_command

from runs_app import demo_sessions
from runs_app.models import DemoOrder, Turn
from runs_app.recorder import folded
from sessions_app.models import AgentSession, AgentThread

pytestmark = pytest.mark.django_db(transaction=True)


def seed() -> str:
    out = io.StringIO()
    call_command("seed_demo", stdout=out)
    return out.getvalue()


def test_the_demo_is_seeded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # The long conversation is long for people, not for this test.
    short = [s for s in demo_sessions.SESSIONS if len(s.messages) < 50]
    monkeypatch.setattr("runs_app.management.commands.seed_demo.SESSIONS", short)
    assert "demo sessions are there" in seed()
    assert "nothing to seed" in seed()
    statuses = set(AgentSession.objects.values_list("status", flat=True))
    assert statuses == {"idle", "waiting", "failed"}
    assert Turn.objects.filter(outcome="interrupted").count() == 1
    assert DemoOrder.objects.get().sku == "notebook A5"
    for thread in AgentThread.objects.all():
        assert folded(str(thread.id)).thread.status == thread.status
        assert thread.lease_owner is None


def test_one_conversation_of_the_demo_is_long() -> None:
    longest = max(demo_sessions.SESSIONS, key=lambda session: len(session.messages))
    assert 2 * len(longest.messages) >= 200
