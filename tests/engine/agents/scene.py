"""What the tests of agents share: scripted models, agents on a journal, and a host of turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.admission import Admission, RunResult
from agentadmin.engine.agents.harness import HarnessAgent, HarnessAgentBuilder
from agentadmin.engine.agents.react import ReActAgent, ReActAgentBuilder
from agentadmin.engine.identity import new_id
from agentadmin.engine.journal.base import Batch, CommitKind, Lease, Release
from agentadmin.engine.journal.facts import Fact, FactType, NewFact
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from agentadmin.engine.journal.writer import JournalWriter
from agentadmin.engine.messages import Msg, user_message
from agentadmin.engine.models.base import (
    Chunk,
    ModelRequest,
    RetryPolicy,
    TextChunk,
    ToolCallChunk,
)
from agentadmin.engine.runtime_context import RuntimeContext
from agentadmin.engine.state.permissions import PermissionContext, PermissionMode
from agentadmin.engine.tools.builtin import DEMO_TOOLS

if TYPE_CHECKING:
    from agentadmin.engine.agents.agent import Agent
    from agentadmin.engine.agents.interrupt import InterruptControl
    from agentadmin.engine.agents.run import Execution
    from agentadmin.engine.events import Event

BYPASS = PermissionContext(mode=PermissionMode.BYPASS)
PATIENCE = 5.0

type Turn = Iterable[Chunk] | Callable[[ModelRequest], AsyncGenerator[Chunk, None]]


class ScriptModel:
    """Answers each request with the next of the given turns, and keeps the requests."""

    def __init__(self, *turns: Turn, retry: RetryPolicy | None = None) -> None:
        self.name = "script"
        self.context_window = 0
        self.retry = retry or RetryPolicy(retries=0)
        self.requests: list[ModelRequest] = []
        self.closed = False
        self._turns = list(turns)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        self.requests.append(request)
        turn = self._turns.pop(0)
        if callable(turn):
            async for chunk in turn(request):
                yield chunk
        else:
            for chunk in turn:
                yield chunk

    async def close(self) -> None:
        self.closed = True


def says(text: str) -> list[Chunk]:
    return [TextChunk(text)]


def calls(*wanted: tuple[str, str]) -> list[Chunk]:
    """Tool calls by name and JSON arguments, with ids c1, c2, …"""
    return [
        ToolCallChunk(str(i), f"c{i}", name, arguments)
        for i, (name, arguments) in enumerate(wanted, 1)
    ]


def context(session_id: str = "s", **more: str) -> RuntimeContext:
    builder = RuntimeContext.builder().session_id(session_id)
    for name, value in more.items():
        getattr(builder, name)(value)
    return builder.build()


def harness(journal: InMemoryThreadJournal, model: Any = "offline:demo") -> HarnessAgentBuilder:
    return (
        HarnessAgent.builder()
        .name("Assistant")
        .model(model)
        .tools(*DEMO_TOOLS)
        .thread_journal_store(journal)
    )


def plain(model: Any = "offline:demo") -> ReActAgentBuilder:
    return ReActAgent.builder().name("Assistant").model(model).tools(*DEMO_TOOLS)


async def facts_of(
    journal: InMemoryThreadJournal, agent: Agent, session_id: str = "s"
) -> list[Fact]:
    ref = await journal.find(agent.thread_key(context(session_id)))
    return await journal.facts(ref) if ref else []


def types_of(facts: Sequence[Fact]) -> list[str]:
    return [str(fact.type) for fact in facts]


def last(facts: Sequence[Fact], type_: str) -> Fact:
    return next(fact for fact in reversed(facts) if fact.type == type_)


async def until(condition: Callable[[], Any], patience: float = PATIENCE) -> None:
    """Poll until true; fails the test after the deadline."""
    async with asyncio.timeout(patience):
        while not condition():  # noqa: ASYNC110 - anything may be waited for
            await asyncio.sleep(0.002)


class CountingJournal(InMemoryThreadJournal):
    """Keeps every committed batch, to count commits and see what went together."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    async def commit(self, ref: Any, batch: Batch, rows: Any = ()) -> Any:
        committed = await super().commit(ref, batch, rows)
        self.batches.append([str(fact.type) for fact in batch.facts])
        return committed


@dataclass
class Host:
    """Drives durable turns over a journal, as the executor does."""

    journal: InMemoryThreadJournal
    agent: HarnessAgent
    session_id: str = "s"
    events: list[Event] = field(default_factory=list)
    at_safe_point: Callable[[JournalWriter], Awaitable[None]] | None = None
    ctx: RuntimeContext | None = None

    async def safe_point(self, writer: JournalWriter) -> None:
        if self.at_safe_point is not None:
            await self.at_safe_point(writer)

    def release(self) -> Release:
        return Release.IF_IDLE

    def emit(self, event: Event) -> None:
        self.events.append(event)

    async def submit(self, text: str) -> Admission:
        """Accept a turn: its input is committed before anything runs."""
        message, turn_id = user_message(text), new_id()
        ref = await self.journal.ensure(self.agent.thread_key(context(self.session_id)))
        payload = {"request_id": None, "input": [message.raw], "by": None}
        fact = NewFact(FactType.TURN_START, payload, turn_id)
        committed = await self.journal.commit(ref, Batch(CommitKind.QUEUE, [fact.seal()]))
        return Admission(turn_id, "new", committed.first_seq, [message], worker="w1")

    async def claim(self) -> tuple[JournalWriter, Lease]:
        ref = await self.journal.ensure(self.agent.thread_key(context(self.session_id)))
        lease = await self.journal.claim(ref, new_id(), 30)
        return await JournalWriter.open(self.journal, ref, lease=lease), lease

    async def prepare(
        self, admission: Admission, control: InterruptControl | None = None
    ) -> tuple[Execution, Lease]:
        writer, lease = await self.claim()
        execution = self.agent.prepare_turn(
            admission, writer=writer, control=control, host=self, ctx=self.ctx
        )
        return execution, lease

    async def run(self, admission: Admission, control: InterruptControl | None = None) -> RunResult:
        execution, lease = await self.prepare(admission, control)
        result = await execution.run()
        if not result.released:
            await self.journal.release(execution.log.writer.ref, lease)
        return result

    async def resolve(self, **answer: Any) -> None:
        """Record an answer as the service does: a queue commit, no lease needed."""
        payload = {"by": None, "reason": None, "answer": None, "rules": [], "input": None, **answer}
        ref = await self.journal.ensure(self.agent.thread_key(context(self.session_id)))
        fact = NewFact(FactType.INTERACTION_RESOLVED, payload)
        await self.journal.commit(ref, Batch(CommitKind.QUEUE, [fact.seal()]))

    async def facts(self) -> list[Fact]:
        return await facts_of(self.journal, self.agent, self.session_id)

    async def messages(self) -> list[Msg]:
        state = await self.agent.get_agent_state(context(self.session_id))
        return list(state.context)
