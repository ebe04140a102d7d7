"""Controls: one command to a thread, and how far it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.access.actor import READ
from agentadmin.engine.errors import NotFound
from sessions_app.models import ControlRequest
from sessions_app.policies import require_thread
from sessions_app.selectors.paging import row_id

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor


def control_detail(actor: Actor, control_id: object) -> ControlRequest:
    """A control of a thread that the actor sees."""
    controls = ControlRequest.objects.select_related("thread__session")
    control = controls.filter(id=row_id(control_id)).first()
    if control is None:
        raise NotFound
    require_thread(actor, READ, control.thread)
    return control
