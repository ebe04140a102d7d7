"""Execution: one run of one turn, over any StateLog, driven by any RunHost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents import ending, loop
from agentadmin.engine.agents.admission import Admission, RunResult, Usage
from agentadmin.engine.agents.emitter import Emitter, Sink, Step
from agentadmin.engine.agents.host import NoHost, RunHost
from agentadmin.engine.agents.interrupt import InterruptControl, Interrupted
from agentadmin.engine.agents.middleware import StopRequest, around_agent
from agentadmin.engine.context.plan_banner import plan_banner
from agentadmin.engine.errors import InputPending, TurnFinished
from agentadmin.engine.events import EventType
from agentadmin.engine.identity import new_hex, new_id
from agentadmin.engine.journal.base import Release
from agentadmin.engine.runtime_context import RuntimeContext

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentadmin.engine.agents.log import StateLog
    from agentadmin.engine.agents.spec import AgentSpec
    from agentadmin.engine.journal.facts import NewFact
    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.tools.toolkit import ActiveTools


class Execution:
    """Single use. `run` gives the result of a turn however it ended.

    It raises only what nobody can record: errors of the log (Fenced and the like), a failure that
    could not be saved, memory exhaustion, and the cancellation of the task itself.
    """

    def __init__(
        self,
        spec: AgentSpec,
        admission: Admission,
        log: StateLog,
        *,
        control: InterruptControl | None = None,
        host: RunHost | None = None,
        ctx: RuntimeContext | None = None,
        sinks: Sequence[Sink] = (),
    ) -> None:
        self.spec = spec
        self.admission = admission
        self.log = log
        self.control = control or InterruptControl()
        self.host: RunHost = host or NoHost()
        self.run_id = admission.run_id or new_id()
        self.usage = Usage()
        self.rounds = 0
        self.approvers: dict[str, dict[str, Any] | None] = {}
        self.steered: set[int] = set()
        self.stop = StopRequest()
        self.workspace = spec.workspace_of(log.key)
        self.step = Step(self.run_id, 0)
        self.ctx = self._bind(ctx or RuntimeContext.empty())
        listens = () if isinstance(self.host, NoHost) else (self.host.emit,)
        self.emit = Emitter(self._identity(), (*sinks, *listens))
        self._first: list[NewFact] = []
        self._later: list[NewFact] = []
        self._log_error: Exception | None = None
        self._prompt: str | None = None
        log.bind(admission.turn_id, self.run_id)

    def _bind(self, request: RuntimeContext) -> RuntimeContext:
        """The invocation's own context: the request's may be used for other calls meanwhile."""
        key, ctx = self.log.key, request.copy()
        ctx.namespace, ctx.user_id = key.namespace, key.user_id
        ctx.session_id, ctx.thread_id = key.session_id, key.thread_id
        ctx.turn_id, ctx.run_id = self.admission.turn_id, self.run_id
        ctx.agent_state = self.log.state
        ctx.put(StopRequest, self.stop)
        ctx.put(InterruptControl, self.control)
        return ctx

    def _identity(self) -> dict[str, str | None]:
        return {
            "agentId": self.spec.agent_id,
            "sessionId": self.log.key.session_id,
            "turnId": self.admission.turn_id,
            "runId": self.run_id,
        }

    @property
    def state(self) -> AgentState:
        """The working state; an edit at a safe point puts another one in its place."""
        return self.log.state

    async def run(self) -> RunResult:
        """Run to the end; exactly one AGENT_END follows AGENT_START, also on errors.

        Raises TurnFinished when the turn is over: a last commit whose answer got lost.
        """
        start_seq = self.admission.start_seq
        if start_seq is not None and self.log.has_ended(start_seq):
            raise TurnFinished()
        reply_id = new_hex()
        self.emit(
            EventType.AGENT_START,
            sessionId=self.log.key.session_id,
            replyId=reply_id,
            name=self.spec.name,
            role="assistant",
        )
        try:
            result = await around_agent(self.spec.middleware, self.ctx, self._drive)()
            if result.reply is not None:
                self.emit(EventType.AGENT_RESULT, result=result.reply.raw)
            return result
        finally:
            self.emit(EventType.AGENT_END, replyId=reply_id)

    async def _drive(self) -> RunResult:
        try:
            return await loop.drive(self)
        except Interrupted as stop:
            return await ending.stop(self, stop.signal)
        except asyncio.CancelledError:
            await self._abandon()
            raise
        except MemoryError:
            raise
        except Exception as error:
            if error is self._log_error:
                raise
            return await ending.fail(self, error)

    async def _abandon(self) -> None:
        """Save what there is, although the caller has gone; his cancellation goes on after it."""
        task = asyncio.ensure_future(ending.abandoned(self))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task})

    # What the parts of the loop use.

    def next_step(self) -> Step:
        """Begin another reasoning and acting round."""
        self.step = Step(self.run_id, self.step.number + 1)
        self.log.at_step(self.step.id)
        return self.step

    def active_tools(self) -> ActiveTools:
        """The tools that the state's groups allow now."""
        return self.spec.toolkit.active(self.state.tool_context.activated_groups)

    async def system_prompt(self) -> str:
        """The system prompt, passed through the middleware once a run, and how plan mode is now."""
        if self._prompt is None:
            prompt = self.spec.sys_prompt
            for layer in self.spec.middleware:
                prompt = await layer.on_system_prompt(self.ctx, prompt)
            self._prompt = prompt
        banner = plan_banner(self.state.plan_mode_context)
        return "\n\n".join(filter(None, (self._prompt, banner)))

    async def boundary(self) -> None:
        """A safe point between phases: stop here, or take in what others have changed."""
        self.control.check()
        if self.log.writer is not None:
            await self.host.safe_point(self.log.writer)
            self.ctx.agent_state = self.log.state
            self.control.check()

    def first(self, fact: NewFact) -> None:
        """A fact that goes before the changes of the next commit."""
        self._first.append(fact)

    def later(self, facts: Iterable[NewFact]) -> None:
        """Facts that go along with the next commit, whatever it is for."""
        self._later.extend(facts)

    async def flush(
        self,
        facts: Sequence[NewFact] = (),
        *,
        reason: str,
        release: Release = Release.NEVER,
    ) -> bool:
        """Commit; a cancellation waits until the commit is through, so none is ever torn.

        Raises InputPending when the turn cannot be done yet; then nothing was written.
        """
        before, self._first = self._first, []
        kept, self._later = self._later, []
        all_facts = [*kept, *facts]
        task = asyncio.ensure_future(
            self.log.flush(all_facts, before=before, reason=reason, release=release)
        )
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task})
            raise
        except InputPending:
            # The run goes on: what was to go along goes with its next commit.
            self._first, self._later = [*before, *self._first], [*kept, *self._later]
            raise
        except Exception as error:
            self._log_error = error
            raise
