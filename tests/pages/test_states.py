"""Every state that the product knows has a glyph, a word and a hue."""

import re
from enum import StrEnum

import pytest
from django.conf import settings
from django.template import Context, Template

from agentadmin.audit.format import Outcome as AuditOutcome
from agentadmin.engine.messages import ToolCallState, ToolResultState
from agentadmin.engine.state.permissions.decision import STEPS
from agentadmin.engine.state.tasks import TaskState
from runs_app.states import InteractionStatus, Outcome, RunStatus, TurnState, WaitKind
from sessions_app.states import ControlState, ThreadStatus
from sessions_app.templatetags.decisions import BECAUSE, VERDICTS
from sessions_app.templatetags.states import STATES, look

VOCABULARIES: list[type[StrEnum]] = [
    ThreadStatus,
    ControlState,
    TurnState,
    WaitKind,
    Outcome,
    RunStatus,
    InteractionStatus,
    ToolCallState,
    ToolResultState,
    TaskState,
    AuditOutcome,
]
HUES = {"live", "wait", "good", "bad", "held", "idle"}


def symbols() -> set[str]:
    sprite = (settings.BASE_DIR / "templates" / "_sprite.html").read_text()
    return set(re.findall(r'<symbol id="([^"]+)"', sprite))


@pytest.mark.parametrize("states", VOCABULARIES, ids=lambda states: states.__name__)
def test_every_status_of_the_code_is_in_the_table(states: type[StrEnum]) -> None:
    assert [member for member in states if member.value not in STATES] == []


def test_every_step_of_the_decision_has_words() -> None:
    assert {name for name, _ in STEPS} | {"dont_ask"} == set(BECAUSE)


def test_every_glyph_is_in_the_sprite_and_every_hue_has_a_token() -> None:
    used = {shown.glyph for shown in STATES.values()} | {v.glyph for v in VERDICTS.values()}
    assert used <= symbols()
    assert {shown.hue for shown in STATES.values()} <= HUES


def test_an_unknown_state_keeps_its_word_and_claims_nothing() -> None:
    assert (look("brand_new").word, look("brand_new").hue) == ("Brand new", "idle")
    assert look(None).word == "Idle"


def test_a_state_is_glyph_and_word_without_blanks_around() -> None:
    html = Template("{% load states %}[{% state 'failed' fill=True %}]").render(Context())
    assert html.startswith('[<span class="st bad fill">')
    assert html.endswith("Failed</span>]")


def test_a_decision_says_what_was_decided_and_who_answered() -> None:
    source = "{% load decisions %}{% decision 'ask' rule='rm *' final='allow' by='bob' %}"
    html = Template(source).render(Context())
    assert html.index("ASK") < html.index("rm *") < html.index("ALLOW") < html.index("bob")
