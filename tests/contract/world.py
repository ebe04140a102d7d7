"""Rows for Schemathesis to find: sessions that are idle, have run, wait for an answer, and more.

`aim` puts their ids where generated ones stand, so that most calls reach a row and not a 404.
"""

import zlib
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch
from uuid import UUID

from asgiref.sync import async_to_sync

from agentadmin.access.actor import Actor
from agentadmin.access.models import ApiToken
from agentadmin.access.services import create_user
from agentadmin.access.tokens import create_token
from agentadmin.audit.models import AuditEntry
from agentadmin.engine.identity import new_id
from runs_app.executor import CACHE, execute
from runs_app.keeper import Keeper
from runs_app.models import Interaction, Run, Turn
from runs_app.services.erasure import request_erasure
from runs_app.services.submit import submit_turn
from sessions_app.mailbox import request_control
from sessions_app.models import AgentSession, AgentThread, ControlRequest, Job
from sessions_app.services.sessions import NewSession, create_session
from sessions_app.states import ControlKind

SYSTEM = Actor.system("tests")
RAN = ("/echo hi", '/tool calculator {"expression": "1+1"}')
PARKED = (
    '/tool create_order {"sku": "tea"}',
    '/tool ask_user {"question": "Which?", "choices": ["a", "b"]}',
)
ROWS: dict[str, Any] = {
    "session_id": AgentSession,
    "thread_id": AgentThread,
    "turn_id": Turn,
    "run_id": Run,
    "interaction_id": Interaction,
    "control_id": ControlRequest,
    "job_id": Job,
    "entry_id": AuditEntry,
}


@dataclass
class World:
    """What exists, and the ids of it by the names of parameters."""

    ids: dict[str, list[str]] = field(default_factory=dict)
    made: int = 0

    def secret(self) -> str:
        """A new token of an administrator, so that no test uses up another's."""
        self.made += 1
        name = f"admin-{self.made}"
        user = create_user(actor=SYSTEM, name=name, password=new_id(), role="admin")
        return create_token(actor=SYSTEM, user=user).secret

    def grow(self) -> None:
        """Fresh sessions, so that what one operation ended does not hide the next one's rows."""
        with (
            patch("runs_app.dispatch.dispatch"),
            patch("runs_app.services.erasure.dispatch_job"),
            patch("runs_app.executor.dispatch"),
            patch("runs_app.keeper.dispatch"),
        ):
            self._grow()
        self.ids = {name: _newest(model) for name, model in ROWS.items()}
        spare = create_user(
            actor=SYSTEM, name=f"spare-{self.made}", password=new_id(), role="viewer"
        )
        token = create_token(actor=SYSTEM, user=spare).token
        self.ids["token_id"] = [str(ApiToken.objects.get(pk=token.pk).pk)]
        self.ids["agent_id"] = ["demo"]

    def _grow(self) -> None:
        erased = _thread()
        request_erasure(actor=SYSTEM, session_id=erased.session_id, reason="asked for")
        keeper = Keeper("test-worker")
        keeper.sweep = lambda: None  # type: ignore[method-assign]
        keeper.start()
        try:
            for inputs in ((), RAN, *((text,) for text in PARKED)):
                thread = _thread()
                for text in inputs:
                    submit_turn(actor=SYSTEM, thread=thread, input=text)
                if inputs:
                    async_to_sync(execute)(str(thread.id), keeper)
        finally:
            keeper.close()
            CACHE._held.clear()
        queued = _thread()
        submit_turn(actor=SYSTEM, thread=queued, input="/echo later")
        request_control(thread=queued, kind=ControlKind.INTERRUPT, actor=SYSTEM, reason="enough")


def _thread() -> AgentThread:
    session = create_session(actor=SYSTEM, new=NewSession(agent_id="demo"))
    return AgentThread.objects.select_related("session").get(session=session)


def _newest(model: Any) -> list[str]:
    return [str(pk) for pk in model.objects.order_by("-pk").values_list("pk", flat=True)[:8]]


def aim(case: Any, ids: dict[str, list[str]]) -> None:
    """Most generated ids become those of rows, always the same ones for the same value."""
    for place in (case.path_parameters, case.query, case.body):
        if isinstance(place, dict):
            for name, value in place.items():
                place[name] = _aimed(name, value, ids)


def _aimed(name: str, value: Any, ids: dict[str, list[str]]) -> Any:
    known = ids.get(name)
    if not known or not isinstance(value, str) or not _plausible(name, value):
        return value
    number = zlib.crc32(value.encode("utf-8", "surrogatepass"))
    return value if number % 5 == 0 else known[number // 5 % len(known)]


def _plausible(name: str, value: str) -> bool:
    """What is no id at all is sent as it is: that has to be refused."""
    if name in {"turn_id", "run_id", "interaction_id", "agent_id"}:
        return bool(value)
    try:
        return str(UUID(value)) == value
    except ValueError:
        return False
