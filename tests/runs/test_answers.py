"""Answers: one winner, bound to the call, several in a row and at once, rules on the way."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections

from agentadmin.access.actor import Actor, ActorKind, Grant
from agentadmin.access.errors import Refused
from agentadmin.engine.errors import (
    AlreadyDecided,
    CallHashMismatch,
    IdempotencyMismatch,
    InvalidInput,
    StepUpRequired,
)
from agentadmin.engine.state import codec
from runs_app.models import DemoOrder, Interaction
from runs_app.selectors.interactions import open_interactions
from runs_app.services.respond import respond_interaction
from runs_app.services.submit import submit_turn
from sessions_app.models import AgentThread
from sessions_app.services.update_state import update_agent_state
from tests.runs.conftest import Work, turn_of

pytestmark = pytest.mark.django_db(transaction=True)

ORDER = '/tool create_order {"sku": "tea"}'


def respond(actor: Actor, asked: Interaction, decision: str, **given: Any) -> Any:
    return respond_interaction(
        actor=actor,
        interaction_id=asked.id,
        decision=decision,
        call_hash=given.pop("call_hash", asked.call_hash),
        **given,
    )


@pytest.fixture
def asked(thread: AgentThread, actor: Actor, work: Work) -> Interaction:
    submit_turn(actor=actor, thread=thread, input=ORDER)
    work(thread)
    return open_interactions(thread)[0]


def test_an_answer_to_another_call_is_refused(actor: Actor, asked: Interaction) -> None:
    with pytest.raises(CallHashMismatch):
        respond(actor, asked, "approve", call_hash="0" * 64)
    assert Interaction.objects.get().status == "pending"


@pytest.mark.parametrize(
    ("decision", "given", "path"),
    [
        ("answer", {"answer": "x"}, "decision"),
        ("deny", {"input": {"sku": "x"}}, "input"),
        ("approve", {"answer": "x"}, "answer"),
        ("approve", {"rules": [{"tool_name": "x"}]}, "rules[0].behavior"),
        ("approve", {"input": {"deep": codec.loads("[" * 996 + "]" * 996)}}, "input"),
    ],
)
def test_what_does_not_fit_the_question_is_named(
    actor: Actor, asked: Interaction, decision: str, given: dict[str, Any], path: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        respond(actor, asked, decision, **given)
    assert refused.value.path == path


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        ([{"type": 5}], "answer[0].type"),
        ([{"type": "text", "text": 5}], "answer[0].text"),
        ({"output": "x", "state": "odd"}, "answer.state"),
        ({"output": "x", "state": {"a": 1}}, "answer.state"),
        (codec.loads("[" * 996 + "]" * 996), "answer"),
    ],
)
def test_an_answer_that_no_result_can_hold_is_refused(
    thread: AgentThread, actor: Actor, work: Work, answer: Any, path: str
) -> None:
    submit_turn(actor=actor, thread=thread, input='/tool ask_user {"question": "?"}')
    work(thread)
    with pytest.raises(InvalidInput) as refused:
        respond(actor, open_interactions(thread)[0], "answer", answer=answer)
    assert refused.value.path == path


def test_a_repeated_answer_gets_the_first_receipt(actor: Actor, asked: Interaction) -> None:
    first = respond(actor, asked, "approve", request_id="r")
    again = respond(actor, asked, "approve", request_id="r")
    assert not first.duplicate
    assert again.duplicate
    assert again.turn_id == first.turn_id
    with pytest.raises(IdempotencyMismatch):
        respond(actor, asked, "deny", request_id="r")
    with pytest.raises(AlreadyDecided) as refused:
        respond(actor, asked, "deny")
    assert refused.value.by == "ann"


def test_a_denied_call_is_not_run_and_the_turn_ends_well(
    thread: AgentThread, actor: Actor, asked: Interaction, work: Work
) -> None:
    respond(actor, asked, "deny", reason="too expensive")
    work(thread)
    assert turn_of(asked.turn_id).outcome == "done"
    assert not DemoOrder.objects.exists()


def test_edited_arguments_are_what_runs(
    thread: AgentThread, actor: Actor, asked: Interaction, work: Work
) -> None:
    respond(actor, asked, "approve", input={"sku": "coffee", "quantity": 2})
    work(thread)
    assert DemoOrder.objects.get().sku == "coffee"


def test_a_deny_rule_that_came_after_the_approval_wins(
    thread: AgentThread, actor: Actor, asked: Interaction, work: Work
) -> None:
    rule = {"op": "add_rule", "behavior": "deny", "tool_name": "create_order", "source": "late"}
    update_agent_state(
        actor=actor,
        thread=thread,
        reason="stop orders",
        operations=[{**rule, "rule_content": None}],
    )
    respond(actor, asked, "approve")
    work(thread)
    assert not DemoOrder.objects.exists()
    assert turn_of(asked.turn_id).state == "completed"


def test_an_allow_rule_needs_more_than_the_right_to_answer(asked: Interaction) -> None:
    rule = {"tool_name": "create_order", "behavior": "allow", "source": "approval"}
    approver = person({"sessions:read", "interactions:respond"})
    with pytest.raises(Refused):
        respond(approver, asked, "approve", rules=[rule])
    permissions = {"sessions:read", "interactions:respond", "permissions:edit"}
    with pytest.raises(StepUpRequired):
        respond(person(permissions | {"permissions:widen"}), asked, "approve", rules=[rule])
    assert Interaction.objects.get().status == "pending"


def person(permissions: set[str]) -> Actor:
    grants = (Grant(frozenset(permissions)),)
    return Actor(kind=ActorKind.USER, id="7", name="bob", grants=grants)


def test_an_accepted_rule_silences_the_next_question(
    thread: AgentThread, actor: Actor, asked: Interaction, work: Work
) -> None:
    rule = {"tool_name": "create_order", "behavior": "allow", "source": "approval"}
    respond(actor, asked, "approve", rules=[rule])
    work(thread)
    second = submit_turn(actor=actor, thread=thread, input='/tool create_order {"sku": "two"}')
    work(thread)
    assert turn_of(second.turn_id).outcome == "done"
    assert DemoOrder.objects.count() == 2


def test_three_approvals_in_a_row_and_two_at_once_all_appear(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    for n in range(3):
        submit_turn(actor=actor, thread=thread, input=f'/tool create_order {{"sku": "{n}"}}')
        work(thread)
        respond(actor, open_interactions(thread)[0], "approve")
        work(thread)
    calls = ", ".join(f'{{"name": "create_order", "input": {{"sku": "p{n}"}}}}' for n in range(2))
    turn = submit_turn(actor=actor, thread=thread, input=f"/tools [{calls}]")
    work(thread)
    two = open_interactions(thread)
    assert len(two) == 2
    respond(actor, two[0], "approve")
    work(thread)
    assert turn_of(turn.turn_id).state == "waiting"
    respond(actor, two[1], "deny")
    work(thread)
    assert turn_of(turn.turn_id).outcome == "done"
    assert sorted(DemoOrder.objects.values_list("sku", flat=True)) == ["0", "1", "2", "p0"]


def in_two_threads(first: Callable[[], object], second: Callable[[], object]) -> list[object]:
    """Both at once; what each returned or raised."""
    results: list[object] = [None, None]
    gate = threading.Barrier(2)

    def run(index: int, call: Callable[[], object]) -> None:
        try:
            gate.wait()
            results[index] = call()
        except Exception as error:
            results[index] = error
        finally:
            connections.close_all()

    pair = [
        threading.Thread(target=run, args=(index, call))
        for index, call in enumerate((first, second))
    ]
    for each in pair:
        each.start()
    for each in pair:
        each.join()
    return results


@pytest.mark.parametrize("round_", range(5))
def test_of_two_answers_at_once_exactly_one_wins(
    actor: Actor, asked: Interaction, round_: int
) -> None:
    results = in_two_threads(
        lambda: respond(actor, asked, "approve"),
        lambda: respond(Actor.system("bob"), asked, "deny"),
    )
    lost = [result for result in results if isinstance(result, AlreadyDecided)]
    assert len(lost) == 1
    row = Interaction.objects.get()
    assert row.status in {"approved", "denied"}
    assert lost[0].by == row.decided_by


def test_of_two_equal_submissions_one_is_the_others_duplicate(
    thread: AgentThread, actor: Actor
) -> None:
    def submit() -> object:
        return submit_turn(actor=actor, thread=thread, input="hi", request_id="same")

    first, second = in_two_threads(submit, submit)
    assert {first.duplicate, second.duplicate} == {True, False}  # type: ignore[attr-defined]
    assert first.turn_id == second.turn_id  # type: ignore[attr-defined]
