"""A session's row repeats what lists show of its threads; this keeps it true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Case, IntegerField, Min, OuterRef, Subquery, Sum, Value, When

from sessions_app.models import AgentSession, AgentThread
from sessions_app.states import URGENCY

if TYPE_CHECKING:
    from datetime import datetime


def sync_session(thread_id: str, at: datetime) -> None:
    """Repeat the threads' most urgent status, questions and tokens on the session's row.

    Call it in the transaction that changed a thread's status, pending interactions or tokens.
    """
    thread = AgentThread.objects.filter(id=thread_id)
    threads = AgentThread.objects.filter(session=OuterRef("pk")).order_by().values("session")
    urgency = Case(
        *[When(status=status, then=Value(rank)) for rank, status in enumerate(URGENCY)],
        default=Value(len(URGENCY)),
        output_field=IntegerField(),
    )
    rank = Subquery(threads.annotate(rank=Min(urgency)).values("rank"))
    AgentSession.objects.filter(id__in=thread.values("session_id")).annotate(rank=rank).update(
        status=Case(
            *[When(rank=rank, then=Value(str(status))) for rank, status in enumerate(URGENCY)],
            default=Value("idle"),
        ),
        pending=Subquery(threads.annotate(n=Sum("pending_interactions")).values("n")),
        tokens=Subquery(threads.annotate(n=Sum("tokens")).values("n")),
        updated_at=at,
    )
