"""Answering a question: exactly one answer wins, and it binds to the call that was shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.agents.answers import given_result
from agentadmin.engine.errors import AlreadyDecided, CallHashMismatch, InvalidInput, TooDeep
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.messages.vocabulary import ARGUMENT_LEVELS
from agentadmin.engine.state import codec
from agentadmin.engine.state.permissions import Behavior, PermissionRule
from runs_app.dispatch import dispatch_on_commit
from runs_app.models import Turn
from runs_app.policies import EDIT_RULES, RESPOND, target_within
from runs_app.selectors.interactions import interaction_detail
from runs_app.services.commits import append_facts, locked
from runs_app.services.expiring import expire, is_overdue
from runs_app.services.receipts import Receipt, once, remember
from runs_app.states import Decision, InteractionStatus
from sessions_app.policies import require_thread, require_widening
from sessions_app.services.idempotency import Once
from sessions_app.services.reasons import checked_reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.access.actor import Actor
    from runs_app.models import Interaction

ALLOWED_DECISIONS = {
    "approval": {Decision.APPROVE, Decision.DENY},
    "question": {Decision.ANSWER, Decision.DENY},
    "external": {Decision.ANSWER, Decision.DENY},
    "confirmation": {Decision.APPROVE, Decision.DENY},
    "external_execution": {Decision.ANSWER, Decision.DENY},
}
MAX_RULES = 50


def respond_interaction(
    *,
    actor: Actor,
    interaction_id: str,
    decision: str,
    call_hash: str,
    request_id: str | None = None,
    reason: str | None = None,
    answer: Any = None,
    rules: Sequence[dict[str, Any]] = (),
    input: dict[str, Any] | None = None,
) -> Receipt:
    """Decide; the turn goes on when every question of it is decided.

    Raises AlreadyDecided with the winner, CallHashMismatch, InvalidInput, or for rules what
    widening needs.
    """
    asked = interaction_detail(actor, interaction_id, RESPOND)
    body = {
        "decision": decision,
        "call_hash": call_hash,
        "reason": reason,
        "answer": answer,
        "rules": list(rules),
        "input": input,
    }
    given = Once.of(actor, "respondInteraction", asked.id, request_id, body)
    if given.answered() is None:
        _check(actor, asked, body)
    return once(given, lambda key: _decide(actor, asked, body, key))


def _check(actor: Actor, asked: Interaction, body: dict[str, Any]) -> None:
    if asked.status == InteractionStatus.PENDING and is_overdue(asked):
        expire(asked)
        asked.refresh_from_db(fields=["status", "decided_by", "decided_at"])
    if asked.status != InteractionStatus.PENDING:
        raise AlreadyDecided(asked.decided_by or "", asked.decided_at or asked.created_at)
    allowed = ALLOWED_DECISIONS[asked.kind]
    if body["decision"] not in allowed:
        raise InvalidInput(f"must be {' or '.join(sorted(allowed))}", path="decision")
    if body["call_hash"] != asked.call_hash:
        raise CallHashMismatch
    if body["reason"] is not None:
        checked_reason(body["reason"])
    _check_answer(body)
    _check_rules(actor, asked, body)


def _check_answer(body: dict[str, Any]) -> None:
    """What goes with a decision, and what does not."""
    decision = body["decision"]
    if decision == Decision.ANSWER and body["answer"] in (None, ""):
        raise InvalidInput("is needed to answer", path="answer")
    if decision != Decision.ANSWER and body["answer"] is not None:
        raise InvalidInput("goes only with the decision answer", path="answer")
    if decision != Decision.APPROVE:
        for name in ("input", "rules"):
            if body[name]:
                raise InvalidInput("goes only with the decision approve", path=name)
    given_result(body["answer"], "answer")
    try:
        codec.dumps(body["input"], levels=ARGUMENT_LEVELS)
    except TooDeep as error:
        raise error.under("input") from None


def _check_rules(actor: Actor, asked: Interaction, body: dict[str, Any]) -> None:
    """A rule that allows more from now on needs more than the right to approve once."""
    if not body["rules"]:
        return
    if len(body["rules"]) > MAX_RULES:
        raise InvalidInput(f"has more than {MAX_RULES} entries", path="rules")
    rules = [PermissionRule.from_dict(raw, f"rules[{i}]") for i, raw in enumerate(body["rules"])]
    require_thread(actor, EDIT_RULES, asked.thread)
    if any(rule.behavior == Behavior.ALLOW for rule in rules):
        require_widening(actor, asked.thread)


@transaction.atomic
def _decide(actor: Actor, asked: Interaction, body: dict[str, Any], key: Once) -> Receipt:
    thread = locked(asked.thread)
    resolved = {
        "interaction_id": asked.id,
        "decision": body["decision"],
        "by": {"name": actor.name, "kind": str(actor.kind), "id": actor.id},
        "reason": body["reason"],
        "answer": body["answer"],
        "rules": body["rules"],
        "input": body["input"],
    }
    # The recorder moves the row only from pending: of two answers one is refused right here.
    append_facts(
        thread, NewFact(FactType.INTERACTION_RESOLVED, resolved, asked.turn_id, asked.run_id)
    )
    turn = Turn.objects.filter(id=asked.turn_id).first()
    receipt = Receipt(
        asked.turn_id,
        turn.state if turn else None,
        revision=turn.revision if turn else None,
        interaction_id=asked.id,
    )
    remember(key, receipt)
    dispatch_on_commit(str(thread.id))
    append(_entry(actor, asked, body))
    return receipt


def _entry(actor: Actor, asked: Interaction, body: dict[str, Any]) -> NewEntry:
    return NewEntry(
        namespace=asked.thread.session.namespace,
        actor=actor,
        action=f"interactions.{body['decision']}",
        target=target_within(asked.thread, "interaction", asked.id),
        outcome=Outcome.ALLOWED,
        reason=body["reason"],
        content={
            "tool": asked.tool,
            "call_id": asked.call_id,
            "call_hash": asked.call_hash,
            "input": codec.loads(asked.input),
            "edited_input": body["input"],
            "answer": body["answer"],
            "rules": body["rules"],
        },
    )
