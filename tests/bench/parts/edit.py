"""T8: `updateAgentState` with its audit entry, on a thread with 100 KB of state."""

import itertools

from asgiref.sync import sync_to_async
from django.db import connection

from agentadmin.access.actor import Actor
from agentadmin.engine.identity import new_id
from agentadmin.engine.journal.loading import load
from agentadmin.engine.journal.writer import JournalWriter
from agentadmin.engine.messages import user_message
from agentadmin.engine.state.permissions import Behavior, PermissionContext, PermissionRule
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentThread
from sessions_app.selectors.sessions import session_threads
from sessions_app.services.sessions import NewSession, create_session
from sessions_app.services.update_state import update_agent_state
from tests.bench import floor
from tests.bench.rows import Row
from tests.bench.texts import text
from tests.bench.timing import Samples, interleaved

KILOBYTES = 100
RULES, SUMMARY = 100, 20_000
ROUNDS, EACH = 12, 5
ACTOR = Actor.system("bench")


def summary(number: int) -> str:
    """A long one, another for every number."""
    return " ".join(text(number + index) for index in range(SUMMARY // 300))


async def thread_with_state() -> AgentThread:
    """A fifth of it summary, some rules, the rest messages."""
    new = NewSession(agent_id="demo", session_id=f"edit-{new_id()}")
    session = await sync_to_async(create_session)(actor=ACTOR, new=new)
    [thread] = await sync_to_async(session_threads)(session)
    writer = await JournalWriter.open(thread_journal(), thread_ref(thread), lease=None)
    permissions = PermissionContext()
    for number in range(RULES):
        content = text(number)[9:60]
        rule = PermissionRule("read_file", content, Behavior.ALLOW, "bench")
        permissions = permissions.with_rule(rule)
    state = writer.state
    state.permission_context = permissions
    state.summary = summary(0)
    for number in itertools.count():
        if number % 10 == 0 and len(state.to_json()) >= KILOBYTES * 1000:
            break
        state.context_mutable().append(user_message(text(number)))
    await writer.flush(reason="seed")
    return thread


class Edits:
    """One edit after another: a rule comes and goes, a summary is set."""

    def __init__(self, thread: AgentThread) -> None:
        self.thread = thread
        self.number = 0

    def operation(self) -> dict[str, str]:
        """The next one."""
        rule = {"behavior": "deny", "tool_name": "write_file", "source": "bench"}
        return [
            {"op": "add_rule", **rule, "rule_content": "/secret/**"},
            {"op": "remove_rule", **rule, "rule_content": "/secret/**"},
            {"op": "set_summary", "summary": summary(self.number)},
        ][self.number % 3]

    def edit(self) -> None:
        """As the API does it."""
        update_agent_state(
            actor=ACTOR,
            thread=self.thread,
            reason="bench",
            operations=[self.operation()],
            request_id=new_id(),
        )
        self.number += 1

    async def run(self) -> None:
        """On the thread that a web request would run on."""
        await sync_to_async(self.edit)()


async def measure() -> list[Row]:
    """Operations in turn; each commits facts, a snapshot and an audit entry."""
    base = floor.floor()
    thread = await thread_with_state()
    edits = Edits(thread)
    samples = await interleaved(
        {"floor": floor.case(base.turn), "edit": edits.run}, rounds=ROUNDS, each=EACH
    )
    state = (await load(thread_journal(), thread_ref(thread))).state()
    return [_row(samples["edit"], samples["floor"], len(state.to_json()))]


def _row(edit: Samples, least: Samples, size: int) -> Row:
    where = "SQLite" if connection.vendor == "sqlite" else "PostgreSQL"
    what = f"{where}, updateAgentState at {size / 1000:.0f} KB of state, audit included"
    return Row("T8", what, edit.figure(), edit.median, 12, "ms", least.median)
