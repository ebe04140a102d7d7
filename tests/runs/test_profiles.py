"""Agents by id: the demo, the user's own, and those that are not defined yet."""

from collections.abc import Iterator
from typing import Any

import pytest

from agentadmin.access.actor import Actor
from runs_app.models import AgentDefinition
from runs_app.profiles import PROFILES, permissions_of
from runs_app.services.definitions import wake_defined
from runs_app.services.submit import submit_turn
from sessions_app.models import AgentThread
from tests.runs.conftest import Work, new_thread, turn_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    PROFILES.forget()
    yield
    PROFILES.forget()


def test_the_demo_is_there_and_its_definition_has_a_version() -> None:
    assert PROFILES.ids() == ["demo"]
    profile = PROFILES.get("demo")
    assert profile is not None
    assert profile.stamp == {"id": "demo", "version": 1}
    assert AgentDefinition.objects.get().factory == "runs_app.profiles:demo"
    assert "calculator" in permissions_of("demo").allow_rules
    assert not permissions_of("nobody").allow_rules


def test_an_own_agent_is_found_by_the_setting_and_runs(
    actor: Actor, work: Work, settings: Any
) -> None:
    settings.AGENTS = ["tests.runs.own_agent:build"]
    thread = new_thread(actor, "shouter")
    turn = submit_turn(actor=actor, thread=thread, input='/tool shout {"text": "hello"}')
    work(thread)
    assert turn_of(turn.turn_id).outcome == "done"
    assert AgentDefinition.objects.get(agent_id="shouter").version == 1


def test_a_turn_goes_on_when_its_agent_is_defined(actor: Actor, work: Work, settings: Any) -> None:
    thread = new_thread(actor, "shouter")
    turn = submit_turn(actor=actor, thread=thread, input="/echo at last")
    work(thread)
    assert turn_of(turn.turn_id).wait_kind == "definition"
    assert wake_defined(PROFILES.ids()) == 0
    PROFILES.forget()
    settings.AGENTS = ["tests.runs.own_agent:build"]
    assert wake_defined(PROFILES.ids()) == 1
    work(thread)
    assert turn_of(turn.turn_id).outcome == "done"
    assert AgentThread.objects.get(id=thread.id).status == "idle"


def test_another_factory_for_an_agent_is_a_new_version() -> None:
    AgentDefinition.objects.create(agent_id="demo", version=3, name="demo", factory="old:one")
    profile = PROFILES.get("demo")
    assert profile is not None
    assert profile.version == 4
    current = AgentDefinition.objects.get(agent_id="demo", is_current=True)
    assert current.version == 4
