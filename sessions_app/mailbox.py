"""The mailbox: commands to a thread, each a row with its four times and its result.

A control moves requested → delivered → acknowledged → effective or refused; every move is one
conditional UPDATE, so two workers never both do it. While one is open the thread counts it in
`pending_controls`, and a run's last commit keeps the lease until it is settled (design §6).
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models.functions import Coalesce
from redis.exceptions import RedisError

from agentadmin import redis
from agentadmin.access.actor import Actor, ActorKind
from agentadmin.engine.clock import now
from agentadmin.engine.state import codec
from sessions_app.journal.store import count_control
from sessions_app.models import AgentThread, ControlRequest
from sessions_app.states import OPEN_CONTROLS, ControlKind, ControlState

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

HINTS = "aa:control"
"""The pub/sub channel that says "look into the mailbox of this thread"; losing a hint is harmless:
the watcher polls the rows once a second."""

log = logging.getLogger(__name__)

_ACTOR_FIELDS = ("id", "name", "on_behalf_of", "token_id", "bound_user_id", "address", "trace_id")


@transaction.atomic
def request_control(
    *,
    thread: AgentThread,
    kind: ControlKind,
    actor: Actor,
    reason: str,
    run_id: str | None = None,
    turn_id: str | None = None,
    payload: Mapping[str, Any] | None = None,
) -> ControlRequest:
    """Put a command into the thread's mailbox; whoever runs the thread hears of it after COMMIT."""
    count_control(str(thread.id), 1)
    control = ControlRequest.objects.create(
        thread_id=thread.id,
        kind=kind,
        run_id=run_id,
        turn_id=turn_id,
        payload=codec.dumps(dict(payload or {})),
        actor=actor_text(actor),
        actor_name=actor.name,
        reason=reason,
        requested_at=now(),
    )
    transaction.on_commit(partial(hint, str(thread.id)))
    return control


def hint(thread_id: str) -> None:
    """Wake the watchers; without Redis they look by themselves."""
    try:
        with redis.commands_sync() as client:
            client.publish(HINTS, thread_id)
    except RedisError as error:
        log.warning("no control hint for thread %s: %s", thread_id, error)


def deliver(control_ids: Collection[Any], at: datetime) -> int:
    """The process that runs the thread has read them."""
    requested = ControlRequest.objects.filter(id__in=control_ids, state=ControlState.REQUESTED)
    return requested.update(state=ControlState.DELIVERED, delivered_at=at)


def acknowledge(control_id: Any) -> bool:
    """The run has heard it and is acting on it."""
    at = now()
    unheard = ControlRequest.objects.filter(
        id=control_id, state__in=[ControlState.REQUESTED, ControlState.DELIVERED]
    )
    moved = unheard.update(
        state=ControlState.ACKNOWLEDGED,
        delivered_at=Coalesce("delivered_at", at),
        acknowledged_at=at,
    )
    return moved == 1


def finish(
    control: ControlRequest, *, result: Mapping[str, Any], refused_code: str | None = None
) -> bool:
    """Settle a control inside the transaction that does (or refuses) it; False when it was settled.

    A refusal's result carries the code and whatever the error says.
    """
    at = now()
    final = ControlState.EFFECTIVE if refused_code is None else ControlState.REFUSED
    told = dict(result) if refused_code is None else {"code": refused_code, **result}
    text = codec.dumps(told)
    with transaction.atomic():
        open_ = ControlRequest.objects.filter(id=control.id, state__in=OPEN_CONTROLS)
        moved = open_.update(
            state=final,
            delivered_at=Coalesce("delivered_at", at),
            acknowledged_at=Coalesce("acknowledged_at", at),
            effective_at=at,
            result=text,
        )
        if moved:
            count_control(str(control.thread_id), -1)
    if moved:
        control.state, control.result, control.effective_at = final, text, at
    return moved == 1


def open_controls(thread_ids: Collection[Any]) -> list[ControlRequest]:
    """Every unsettled control of these threads, oldest first."""
    rows = ControlRequest.objects.filter(thread_id__in=thread_ids, state__in=OPEN_CONTROLS)
    return list(rows.order_by("requested_at", "id"))


def actor_of(control: ControlRequest) -> Actor:
    """Who asked, as the audit entry of the effect needs it; without any right of their own."""
    return actor_from(control.actor)


def actor_from(text: str) -> Actor:
    """The actor that `actor_text` has written down, without any right."""
    given = codec.loads(text)
    fields = {name: given.get(name) for name in (*_ACTOR_FIELDS, "request_id")}
    kind = ActorKind(given["kind"])
    return Actor(kind=kind, **{k: v for k, v in fields.items() if v is not None})


def actor_text(actor: Actor) -> str:
    """An actor as text, for the entry that tells later what came of the request."""
    fields = {name: getattr(actor, name) for name in (*_ACTOR_FIELDS, "request_id")}
    return codec.dumps({"kind": str(actor.kind), **fields})
