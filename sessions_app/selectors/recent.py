"""What was asked of a thread lately: open controls, and those settled a moment ago."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Q

from agentadmin.engine.clock import now
from sessions_app.models import ControlRequest
from sessions_app.states import OPEN_CONTROLS

if TYPE_CHECKING:
    from sessions_app.models import AgentThread

STILL_NEWS = timedelta(minutes=2)
MOST = 5


def recent_controls(thread: AgentThread) -> list[ControlRequest]:
    """The newest controls that an operator still waits for or wants to see the end of."""
    news = Q(state__in=OPEN_CONTROLS) | Q(effective_at__gt=now() - STILL_NEWS)
    rows = ControlRequest.objects.filter(news, thread=thread)
    return list(rows.order_by("-requested_at", "-id")[:MOST])


def controls_of_run(thread: AgentThread, run_id: str) -> list[ControlRequest]:
    """What was asked of one run, oldest first."""
    rows = ControlRequest.objects.filter(thread=thread, run_id=run_id)
    return list(rows.order_by("requested_at", "id")[:MOST])
