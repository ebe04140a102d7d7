"""What became of each file that somebody brought: in, refused, taken, or wider than the agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentadmin.access.actor import WIDEN, ActorKind
from agentadmin.engine.errors import (
    AgentAdminError,
    DecodeError,
    InvalidInput,
    SessionExists,
    StepUpRequired,
)
from agentadmin.engine.state.interop import oddities
from agentadmin.problems import row
from sessions_app.models import AgentSession
from sessions_app.policies import visible_sessions
from sessions_app.selectors.sessions import session_threads
from sessions_app.services.importing import import_read, read_import

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from agentadmin.engine.state.interop import Oddity
    from sessions_app.models import AgentThread
    from sessions_app.pages.import_form import ImportForm
    from sessions_app.services.importing import Reading

PASTED = "pasted text"
CREATED = 201
MOST_WIDENINGS = 8


@dataclass(frozen=True, slots=True)
class Brought:
    """One file as it was sent, or a pasted text."""

    name: str
    data: bytes
    request_id: str | None = None


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What became of one file, for its line on the page."""

    name: str
    size: int
    kind: str
    """imported, refused, taken or wider; each is drawn in its own way."""
    status: int = CREATED
    title: str = ""
    text: str = ""
    path: str = ""
    session: AgentSession | None = None
    thread: AgentThread | None = None
    source: str = ""
    odd: tuple[Oddity, ...] = ()
    """Words that AgentScope itself would refuse, kept as they came."""
    session_id: str = ""
    widens: tuple[str, ...] = ()
    more_widens: int = 0
    agent_id: str = ""
    may_widen: bool = False
    asks_password: bool = False
    error: AgentAdminError | None = None

    @property
    def level(self) -> str:
        """The hue of the line."""
        return {"imported": "good", "refused": "bad"}.get(self.kind, "wait")


def bring(actor: Actor, form: ImportForm, brought: Brought) -> Outcome:
    """Import one file as the form says, and say what became of it; never raises a refusal."""
    try:
        reading = read_import(actor=actor, wanted=form.wanted(brought.data))
    except AgentAdminError as error:
        return _refused(brought, error)
    if reading.widens and not form.cleaned_data["widen"]:
        return _wider(actor, brought, reading)
    try:
        session = import_read(actor=actor, reading=reading, request_id=brought.request_id)
    except SessionExists as error:
        return _taken(actor, brought, reading, error)
    except StepUpRequired as error:
        return _wider(actor, brought, reading, error)
    except AgentAdminError as error:
        return _refused(brought, error)
    [thread, *_] = session_threads(session)
    return Outcome(
        name=brought.name,
        size=len(brought.data),
        kind="imported",
        session=session,
        thread=thread,
        source=str(reading.document.format),
        odd=tuple(oddities(reading.document.state)),
    )


def _refused(brought: Brought, error: AgentAdminError) -> Outcome:
    """A fault of ours is none of the file's: it is raised."""
    status, title = row(error)
    if status >= 500:
        raise error
    return Outcome(
        name=brought.name,
        size=len(brought.data),
        kind="refused",
        status=status,
        # It may have been read well and yet be no state: what is wrong stands below.
        title="" if isinstance(error, DecodeError) else title,
        text=error.detail,
        path=error.path if isinstance(error, InvalidInput) else "",
        error=error,
    )


def _taken(actor: Actor, brought: Brought, reading: Reading, error: SessionExists) -> Outcome:
    """The other session is linked where the actor sees it, and another name is proposed."""
    seen = AgentSession.objects.filter(visible_sessions(actor), id=error.session_id)
    return Outcome(
        name=brought.name,
        size=len(brought.data),
        kind="taken",
        status=row(error)[0],
        session=seen.first(),
        session_id=reading.key.session_id,
        error=error,
    )


def _wider(
    actor: Actor, brought: Brought, reading: Reading, error: AgentAdminError | None = None
) -> Outcome:
    """Nothing is written before somebody has seen what the file would allow."""
    key = reading.key
    return Outcome(
        name=brought.name,
        size=len(brought.data),
        kind="wider",
        status=403,
        text=error.detail if error else "",
        widens=reading.widens[:MOST_WIDENINGS],
        more_widens=max(len(reading.widens) - MOST_WIDENINGS, 0),
        agent_id=key.agent_id,
        may_widen=actor.may(WIDEN, key.namespace, key.agent_id),
        asks_password=actor.kind is ActorKind.USER and not actor.is_fresh,
        error=error,
    )
