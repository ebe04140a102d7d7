"""T19: the sessions list over a hundred thousand sessions, whole requests in one process."""

import random
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client

from agentadmin.access.actor import Actor
from agentadmin.access.services import create_user
from agentadmin.access.tokens import create_token
from agentadmin.engine.clock import now
from agentadmin.engine.identity import new_id
from agentadmin.paging import time_cursor
from sessions_app.models import AgentSession, AgentThread
from tests.bench.rows import Row
from tests.bench.timing import percentile

SESSIONS, BATCH = 100_000, 5_000
AGENTS, USERS, NAMESPACES = 20, 5_000, 4
EACH = 40
TARGET = 100
# Most sessions rest; the few others are what people filter for.
STATUSES = ("idle",) * 940 + ("waiting", "failed", "running", "paused", "queued") * 12
SYSTEM = Actor.system("bench")


def seed() -> None:
    """Sessions with a thread each; a third of them are nobody's."""
    chance, start = random.Random(19), now()
    for first in range(0, SESSIONS, BATCH):
        sessions = [_session(n, chance, start) for n in range(first, first + BATCH)]
        with transaction.atomic():
            AgentSession.objects.bulk_create(sessions)
            AgentThread.objects.bulk_create([_thread(session) for session in sessions])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _session(n: int, chance: random.Random, start: datetime) -> AgentSession:
    at = start - timedelta(seconds=chance.random() * 90 * 86_400)
    return AgentSession(
        namespace="default" if n % NAMESPACES else f"team-{n % 7}",
        user_id=None if n % 3 == 0 else f"user-{chance.randrange(USERS)}",
        session_id=f"session-{n}",
        identity_hash=f"{n:064x}",
        agent_id=f"agent-{chance.randrange(AGENTS)}" if n % 2 else "demo",
        status=chance.choice(STATUSES),
        thread_count=1,
        updated_at=at,
    )


def _thread(session: AgentSession) -> AgentThread:
    return AgentThread(
        session=session,
        agent_id=session.agent_id,
        identity_hash=session.identity_hash,
        status=session.status,
        updated_at=session.updated_at,
    )


def cases() -> Iterator[tuple[str, dict[str, str], float | None]]:
    """Every filter that has an index, alone and together.

    `q` and an agent without any session read every row, and have no target.
    """
    yield "all", {}, TARGET
    yield "agent_id, half of all", {"agent_id": "demo"}, TARGET
    yield "agent_id, one in forty", {"agent_id": "agent-7"}, TARGET
    yield "agent_id, none", {"agent_id": "nobody"}, None
    yield "user_id, some", {"user_id": "user-77"}, TARGET
    yield "user_id, nobody's", {"user_id": ""}, TARGET
    yield "user_id, none", {"user_id": "none"}, TARGET
    yield "session_id", {"session_id": "session-99"}, TARGET
    yield "session_id, none", {"session_id": "none"}, TARGET
    yield "status idle", {"status": "idle"}, TARGET
    yield "status waiting", {"status": "waiting"}, TARGET
    yield "status and agent_id", {"status": "failed", "agent_id": "agent-7"}, TARGET
    yield "agent_id and user_id", {"agent_id": "demo", "user_id": "user-77"}, TARGET
    yield "limit 200", {"limit": "200"}, TARGET
    yield "q, one found", {"q": "session-99999"}, None
    yield "q, none found", {"q": "zebra"}, None


async def measure() -> list[Row]:
    """As an administrator, and as somebody who sees one namespace."""
    return await sync_to_async(_measure)()


def _measure() -> list[Row]:
    seed()
    admin, narrow = _user("admin", "*"), _user("viewer", "team-3")
    where = "SQLite" if connection.vendor == "sqlite" else "PostgreSQL"
    rows = [
        _row(f"{where}, API, {name}", admin, f"/api/v1/sessions?{urlencode(query)}", target)
        for name, query, target in cases()
    ]
    cursor = _deep()
    for what, user, path in (
        ("API, in the middle", admin, f"/api/v1/sessions?{urlencode({'cursor': cursor})}"),
        ("API, one namespace", narrow, "/api/v1/sessions"),
        ("page", admin, "/"),
        ("page, one namespace", narrow, "/"),
        ("page, status waiting", admin, "/?status=waiting"),
    ):
        rows.append(_row(f"{where}, {what}", user, path, TARGET))
    return rows


def _user(role: str, namespace: str) -> User:
    name = f"{role}-{new_id()}"
    return create_user(actor=SYSTEM, name=name, password=new_id(), role=role, namespace=namespace)


def _deep() -> str:
    """A cursor half way down."""
    session = AgentSession.objects.order_by("-updated_at", "-id")[SESSIONS // 2]
    return time_cursor(session.updated_at, session.id)


def _row(what: str, user: User, path: str, target: float | None) -> Row:
    client = _client(user, api=path.startswith("/api/"))
    client.get(path)
    times, processor = [], time.process_time()
    for _ in range(EACH):
        began = time.perf_counter()
        answer = client.get(path)
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, (path, answer.status_code, answer.content[:300])
    own = (time.process_time() - processor) * 1000 / EACH
    late = percentile(times, 95)
    figure = f"p95 {late:.1f} ms (p50 {percentile(times, 50):.1f}, cpu {own:.1f})"
    return Row("T19", what, figure, late, target, "ms")


def _client(user: User, *, api: bool) -> Client:
    if api:
        return Client(
            headers={"Authorization": f"Bearer {create_token(actor=SYSTEM, user=user).secret}"}
        )
    client = Client()
    client.force_login(user)
    return client
