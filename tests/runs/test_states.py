"""The transition table is whole: spec §9.2, the contract's states, and a look for each of them."""

import pytest

from agentadmin.engine.agents.admission import Outcome
from agentadmin.engine.journal.facts import FactType
from runs_app.states import (
    COMMANDS,
    MOVES,
    RESUME_QUEUED,
    RESUME_WAITING,
    STOP_PAUSE,
    TERMINAL,
    InteractionStatus,
    RunStatus,
    TurnCommand,
    TurnState,
    WaitKind,
    allows,
    commands,
    in_queue,
)
from sessions_app.templatetags.states import STATES


@pytest.mark.parametrize("names", [TurnState, RunStatus, InteractionStatus, WaitKind, Outcome])
def test_every_state_that_a_page_can_show_has_a_look(names: type[TurnState]) -> None:
    assert {str(name) for name in names} <= STATES.keys()


def test_every_state_but_the_last_ones_can_be_left() -> None:
    assert set(MOVES) == set(TurnState)
    assert {state for state, moves in MOVES.items() if not moves} == TERMINAL


@pytest.mark.parametrize("state", sorted(set(TurnState) - TERMINAL))
def test_every_open_turn_can_be_cancelled(state: TurnState) -> None:
    assert MOVES[state][FactType.TURN_CANCELLED] is TurnState.CANCELLED
    verdict = allows(TurnCommand.CANCEL, state)
    assert verdict.allowed or state is TurnState.CANCELLING


def test_a_cancelled_turn_is_only_reached_by_its_own_fact() -> None:
    ways = {fact for moves in MOVES.values() for fact, to in moves.items() if to == "cancelled"}
    assert ways == {FactType.TURN_CANCELLED}


@pytest.mark.parametrize("state", list(TurnState))
def test_every_refusal_has_its_sentence(state: TurnState) -> None:
    for verdict in commands(state, WaitKind.APPROVAL if state == "waiting" else None):
        assert verdict.allowed == (verdict.reason == "")
    if state in TERMINAL:
        assert not any(verdict.allowed for verdict in commands(state))


def test_only_the_wait_that_is_meant_can_be_ended() -> None:
    waiting = TurnState.WAITING
    assert allows(TurnCommand.RESPOND, waiting, WaitKind.APPROVAL).allowed
    assert not allows(TurnCommand.RESPOND, waiting, WaitKind.RECONCILE).allowed
    assert allows(TurnCommand.RECONCILE, waiting, WaitKind.RECONCILE).allowed
    assert not allows(TurnCommand.RECONCILE, waiting, WaitKind.QUESTION).allowed
    assert set(COMMANDS) == set(TurnCommand)


@pytest.mark.parametrize("command", list(TurnCommand))
def test_every_command_has_its_verdict_in_every_open_state(command: TurnCommand) -> None:
    assert set(COMMANDS[command]) == set(TurnState) - TERMINAL


def test_no_run_begins_on_a_paused_turn_and_only_a_person_lets_it_go_on() -> None:
    assert FactType.RUN_START not in MOVES[TurnState.PAUSED]
    assert set(MOVES[TurnState.PAUSED]) == {
        FactType.TURN_RESUMED,
        RESUME_QUEUED,
        RESUME_WAITING,
        FactType.TURN_CANCELLED,
    }


def test_what_may_be_commanded_the_table_can_carry_out() -> None:
    carried = {
        TurnCommand.PAUSE: {FactType.TURN_PAUSED, STOP_PAUSE},
        TurnCommand.RESUME: {FactType.TURN_RESUMED},
        TurnCommand.CANCEL: {FactType.TURN_CANCELLED},
    }
    for command, facts in carried.items():
        for state, reason in COMMANDS[command].items():
            assert (reason is not None) or facts & set(MOVES[state]), (command, state)


@pytest.mark.parametrize("kind", list(WaitKind))
def test_a_paused_turn_is_answered_as_the_waiting_one_was(kind: WaitKind) -> None:
    for command in (TurnCommand.RESPOND, TurnCommand.RECONCILE):
        waiting = allows(command, TurnState.WAITING, kind)
        assert allows(command, TurnState.PAUSED, kind) == waiting


def test_a_turn_stands_in_the_queue_until_its_first_run() -> None:
    assert in_queue(TurnState.QUEUED, None, has_started=False)
    assert in_queue(TurnState.PAUSED, None, has_started=False)
    assert not in_queue(TurnState.PAUSED, None, has_started=True)
    assert not in_queue(TurnState.PAUSED, WaitKind.DEFINITION, has_started=False)
    assert not in_queue(TurnState.RUNNING, None, has_started=False)
