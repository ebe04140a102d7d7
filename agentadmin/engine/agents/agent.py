"""Agent: what a caller does with a built agent; one instance may serve many sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from agentadmin.engine.agents.direct import Messages, OnPending, admit, messages_of
from agentadmin.engine.agents.gate import ThreadGate
from agentadmin.engine.agents.handle import AgentRun
from agentadmin.engine.agents.home import Mutation, StateHome, fresh_state
from agentadmin.engine.agents.log import JournalLog
from agentadmin.engine.agents.run import Execution
from agentadmin.engine.errors import Conflict, NeedsReconcile, ShuttingDown
from agentadmin.engine.identity import ThreadKey, new_id
from agentadmin.engine.messages import Msg, assistant_message, user_message
from agentadmin.engine.runtime_context import RuntimeContext

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from types import TracebackType

    from agentadmin.engine.agents.admission import Admission, RunResult
    from agentadmin.engine.agents.emitter import Sink
    from agentadmin.engine.agents.host import RunHost
    from agentadmin.engine.agents.interrupt import InterruptControl
    from agentadmin.engine.agents.spec import AgentSpec
    from agentadmin.engine.events import Event
    from agentadmin.engine.journal.writer import JournalWriter
    from agentadmin.engine.state.agent_state import AgentState


class Agent:
    """Holds no conversation: each call reads and writes the thread that its context names."""

    def __init__(self, spec: AgentSpec, home: StateHome, *, owns_model: bool) -> None:
        self.spec = spec
        self._home = home
        self._owns_model = owns_model
        self._gate = ThreadGate()
        self._running: dict[ThreadKey, Execution] = {}
        self._closed = False

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def agent_id(self) -> str:
        return self.spec.agent_id

    def thread_key(self, ctx: RuntimeContext | None = None) -> ThreadKey:
        """The thread that a context names."""
        return self.spec.thread_key(ctx or RuntimeContext.empty())

    # Calls.

    async def call(
        self,
        messages: Messages = None,
        ctx: RuntimeContext | None = None,
        *,
        on_pending: OnPending = "reject",
    ) -> Msg:
        """Run and give the final message. Raises what the run failed with."""
        return await self.prepare_call(messages, ctx, on_pending=on_pending).result()

    async def stream_events(
        self,
        messages: Messages = None,
        ctx: RuntimeContext | None = None,
        *,
        on_pending: OnPending = "reject",
    ) -> AsyncGenerator[Event, None]:
        """Run and yield events; leaving the loop early cancels the call."""
        stream = self.prepare_call(messages, ctx, on_pending=on_pending).stream()
        try:
            async for event in stream:
                yield event
        finally:
            await stream.aclose()

    def prepare_call(
        self,
        messages: Messages = None,
        ctx: RuntimeContext | None = None,
        *,
        on_pending: OnPending = "reject",
    ) -> AgentRun:
        """A handle whose run id is known before anything starts."""
        request = ctx or RuntimeContext.empty()
        given = messages_of(messages)

        async def start(handle: AgentRun, sink: Sink | None) -> Msg:
            return await self._invoke(handle, given, request, sink, on_pending)

        return AgentRun(request.run_id or new_id(), start)

    async def _invoke(
        self,
        handle: AgentRun,
        messages: Sequence[Msg],
        ctx: RuntimeContext,
        sink: Sink | None,
        on_pending: OnPending,
    ) -> Msg:
        if self._closed:
            raise Conflict("This agent is closed.")
        key = self.spec.thread_key(ctx)
        async with self._gate.enter(key):
            handle.running()
            supplied = ctx.run_id is not None
            async with self._home.open(
                key, handle.run_id, handle.control, supplied=supplied
            ) as log:
                admission = admit(log, messages, ctx, run_id=handle.run_id, on_pending=on_pending)
                execution = Execution(
                    self.spec,
                    admission,
                    log,
                    control=handle.control,
                    ctx=ctx,
                    sinks=(sink,) if sink else (),
                )
                result = await self._admitted(key, execution)
        return _reply(result, self.spec.name)

    async def _admitted(self, key: ThreadKey, execution: Execution) -> RunResult:
        self._running[key] = execution
        try:
            return await execution.run()
        finally:
            del self._running[key]

    def prepare_turn(
        self,
        admission: Admission,
        *,
        writer: JournalWriter,
        control: InterruptControl | None = None,
        host: RunHost | None = None,
        ctx: RuntimeContext | None = None,
    ) -> Execution:
        """One run of a durable turn, for a host that has claimed the thread itself."""
        return Execution(
            self.spec, admission, JournalLog(writer), control=control, host=host, ctx=ctx
        )

    # Between calls.

    async def get_agent_state(self, ctx: RuntimeContext | None = None) -> AgentState:
        """A detached copy: changing it changes nothing until it is saved."""
        key = self.thread_key(ctx)
        return await self._home.read(key) or fresh_state(self.spec, key)

    async def save_agent_state(
        self, ctx: RuntimeContext | None, state: AgentState, reason: str = "save_agent_state"
    ) -> None:
        """Save a state that was read before. Raises StaleVersion when it has moved on."""
        key = self.thread_key(ctx)
        await self._home.replace(key, state, reason)

    async def update_agent_state(
        self, ctx: RuntimeContext | None, reason: str, mutation: Mutation
    ) -> AgentState:
        """Apply a change atomically; the mutation may be called more than once."""
        return await self._home.update(self.thread_key(ctx), reason, mutation)

    async def clear_context(self, ctx: RuntimeContext | None = None) -> None:
        """Empty the working context; permissions, tools, tasks, plan and full history stay."""
        key = self.thread_key(ctx)
        if await self._home.read(key) is not None:
            await self._home.update(key, "clear context", _clear)

    async def interrupt(
        self, ctx: RuntimeContext | None = None, message: str | Msg | None = None
    ) -> bool:
        """Stop the call that this instance is running on the thread; False when there is none."""
        execution = self._running.get(self.thread_key(ctx))
        if execution is None:
            return False
        said = user_message(message) if isinstance(message, str) else message
        execution.control.trigger(message=said)
        return True

    async def reconcile_tool_outcomes(
        self, ctx: RuntimeContext | None, results: Mapping[str, Any], reason: str
    ) -> AgentState:
        """Say what became of calls whose outcome nobody knows; all of them, and why."""
        return await self._home.reconcile(self.thread_key(ctx), results, reason)

    async def close(self) -> None:
        """Refuse further calls and give back what the agent itself has opened."""
        if self._closed:
            return
        self._closed = True
        await self._home.close()
        if self._owns_model:
            await self.spec.model.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def _clear(state: AgentState) -> None:
    state.set_context(())
    state.set_summary("")


def _reply(result: RunResult, name: str) -> Msg:
    """The message of a call, or the error that it ended with."""
    if result.error is not None:
        raise result.error
    if result.turn_state == "running":
        raise ShuttingDown()
    if result.wait is not None and result.wait["kind"] == "reconcile":
        raise NeedsReconcile(result.wait["ids"])
    return result.reply or assistant_message((), name=name)
