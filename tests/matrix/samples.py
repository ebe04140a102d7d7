"""Ids and bodies with which any route can be called: one row of each kind, all in one namespace.

A new route needs a line here only where its parameter has a new name, where its body cannot be
made up from its schema, or where it asks for more than it declares.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from agentadmin.access.models import RoleAssignment
from agentadmin.access.tokens import create_token
from agentadmin.api import api
from agentadmin.audit import later
from agentadmin.audit.models import AuditEntry
from runs_app.models import Interaction, Run, Turn
from runs_app.services.submit import submit_turn
from sessions_app.models import ControlRequest, Job
from sessions_app.states import ControlKind, JobKind
from tests.pages.conftest import SYSTEM, Talk, new_thread

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from agentadmin.access.routes import DeclaredRoute

type Samples = dict[str, str]

# What a route asks for beyond what it declares, by its name: it looks at the row first, so that a
# foreign one is not found, and then at what is done to it.
FURTHER = {
    "updateAgentState": "sessions:clear",
    "thread_act": "sessions:clear",
    "thread_audit": "",
    "thread_message": "runs:submit",
    "thread_interrupt": "runs:interrupt",
    "thread_reconcile": "runs:reconcile",
    "turn_cancel": "runs:cancel",
    "turn_pause": "runs:steer",
    "turn_resume": "runs:steer",
    "turn_steer": "runs:steer",
    "allow_once": "interactions:respond",
    "respond": "interactions:respond",
    "allow_rule": "interactions:respond",
    "allow_edited": "interactions:respond",
    "session_erase": "sessions:erase",
    "job_stop": "sessions:erase",
}
# Their body says where the new row is to be: elsewhere is refused, not hidden.
PLACED = {"createSession", "importSession"}
# Rows that only their owner sees, and whoever holds the permission.
OWNED = {"token_id": "tokens:manage"}
# What has no place is only for who holds its permission in every place.
EVERYWHERE = {"access:manage", "agents:manage"}
# No row has these, or they name no row that could be foreign.
NO_ROWS = {
    *("op", "seq", "before", "after", "sign_in_id", "agent_id", "user_id", "role_id"),
}
BODIES: dict[str, Any] = {
    "updateAgentState": {
        "reason": "matrix",
        "operations": [{"op": "clear_context"}],
        "dry_run": True,
    },
}


def samples(talk: Talk, owner: User) -> Samples:
    """A thread that waits for an approval, and everything that hangs on it."""
    thread = talk(new_thread(), '/tool create_order {"sku": "tea", "quantity": 2}')
    submit_turn(actor=SYSTEM, thread=thread, input="next")
    asked = Interaction.objects.get(thread=thread)
    who: dict[str, Any] = {
        "actor": "{}",
        "actor_name": "tests",
        "reason": "matrix",
        "requested_at": thread.created_at,
    }
    control = ControlRequest.objects.create(thread=thread, kind=ControlKind.INTERRUPT, **who)
    job = Job.objects.create(session=thread.session, kind=JobKind.ERASE, **who)
    token = create_token(actor=SYSTEM, user=owner).token
    later.flush()
    entry = AuditEntry.objects.filter(within=str(thread.session_id)).first()
    assert entry
    return {
        "session_id": str(thread.session_id),
        "thread_id": str(thread.id),
        "turn_id": str(Turn.objects.filter(thread=thread).first().pk),  # type: ignore[union-attr]
        "run_id": str(Run.objects.get(thread=thread).pk),
        "interaction_id": str(asked.pk),
        "control_id": str(control.pk),
        "job_id": str(job.pk),
        "entry_id": str(entry.pk),
        "token_id": str(token.pk),
        "agent_id": "demo",
        "sign_in_id": "0" * 32,
        "user_id": str(owner.pk),
        "role_id": str(RoleAssignment.objects.get(user=owner).pk),
        "before": "1",
        "after": "2",
        "op": "clear_context",
        "seq": "1",
    }


_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


def parameters(route: DeclaredRoute) -> list[str]:
    """The names in a route's address."""
    return _PARAMETER.findall(route.path)


def lacking(route: DeclaredRoute, known: Samples) -> set[str]:
    """Parameters for which there is no sample."""
    return set(parameters(route)) - known.keys()


def address(route: DeclaredRoute, known: Samples) -> str:
    """The route's address with an id of each kind."""
    return _PARAMETER.sub(lambda found: known[found[1]], route.path)


@cache
def body(route: DeclaredRoute) -> str:
    """A body that the route's schema takes: its required fields, made up by their types."""
    if route.name in BODIES:
        return json.dumps(BODIES[route.name])
    schema = _schema()
    operation = next(
        found
        for path in schema["paths"].values()
        for found in path.values()
        if isinstance(found, dict) and found.get("operationId") == route.name
    )
    content = operation.get("requestBody", {}).get("content", {})
    described = next(iter(content.values()), {}).get("schema")
    return json.dumps(_made_up(described, schema) if described else {})


@cache
def _schema() -> dict[str, Any]:
    return dict(api.get_openapi_schema())


def _made_up(described: dict[str, Any], whole: dict[str, Any]) -> Any:
    if reference := described.get("$ref"):
        described = whole["components"]["schemas"][reference.rpartition("/")[2]]
    if choices := described.get("anyOf"):
        return _made_up(choices[0], whole)
    if values := described.get("enum"):
        return values[0]
    if described.get("type") == "object":
        fields = described.get("properties", {})
        return {name: _made_up(fields[name], whole) for name in described.get("required", ())}
    plain = {"string": "matrix", "integer": 1, "number": 1, "boolean": False, "array": []}
    return described.get("const", plain.get(str(described.get("type")), {}))
