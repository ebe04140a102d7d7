"""RunningCalls: the tools of one step while they run, and what an interrupt makes of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.calls import CUT_SHORT
from agentadmin.engine.agents.decisions import Judged
from agentadmin.engine.agents.interrupt import InterruptSource
from agentadmin.engine.events import EventType
from agentadmin.engine.messages import ToolResultState
from agentadmin.engine.tools.context import ToolContext
from agentadmin.engine.tools.executor import ToolOutcome, execute
from agentadmin.engine.tools.toolkit import Effect, Tool

if TYPE_CHECKING:
    from agentadmin.engine.agents.run import Execution

PATIENCE = {Effect.NONE: 0.0, Effect.IDEMPOTENT: 2.0, Effect.EXTERNAL: 10.0}
"""Seconds that a started call is still awaited after an interrupt, by its effect."""

SHUTDOWN_PATIENCE = 3.0
"""A shutting down process is killed after 5 s; what it could not await is reconciled."""

type Early = Callable[[Judged, ToolOutcome], Awaitable[None]]


class RunningCalls:
    """`outcomes` holds what ended; a call without one was cut off with its outcome unknown."""

    def __init__(self, run: Execution, ready: Sequence[Judged], blocks: Mapping[str, str]) -> None:
        self._run = run
        self._blocks = blocks
        self.outcomes: dict[str, ToolOutcome] = {}
        self.streamed: dict[str, int] = {}
        self._tasks: dict[asyncio.Task[ToolOutcome], tuple[Judged, Tool]] = {}
        for each in ready:
            if each.tool is not None:
                task = asyncio.create_task(self._start(each, each.tool))
                self._tasks[task] = (each, each.tool)

    async def _start(self, each: Judged, tool: Tool) -> ToolOutcome:
        context = ToolContext(
            runtime=self._run.ctx,
            control=self._run.control,
            call_id=each.call.id,
            tool=each.call.name,
            workspace=self._run.workspace,
            report=lambda text: self._progress(each, text),
            groups=self._run.spec.toolkit.groups,
        )
        return await execute(tool, each.call.input, context)

    def _progress(self, each: Judged, text: str) -> None:
        offset = self.streamed.get(each.call.id, 0)
        self.streamed[each.call.id] = offset + len(text)
        self._run.emit(
            EventType.TOOL_RESULT_TEXT_DELTA,
            self._run.step,
            block=self._blocks[each.call.id],
            offset=offset,
            replyId=self._run.step.reply_id,
            toolCallId=each.call.id,
            toolCallName=each.call.name,
            delta=text,
        )

    async def finish(self, *, early: Early) -> None:
        """Until all have ended, or an interrupt has been dealt with.

        Commits happen in between, so the signal is waited for beside the tools: cancelling this
        task, as an interrupt scope does, could tear a commit.
        """
        stop = asyncio.create_task(self._run.control.wait())
        try:
            await self._collect(stop, early)
            if stop.done():
                await self._stop(stop.result().source)
        finally:
            stop.cancel()
            self._abandon()

    async def _collect(self, stop: asyncio.Task[Any], early: Early) -> None:
        pending: set[asyncio.Task[Any]] = set(self._tasks)
        while pending and not stop.done():
            done, _ = await asyncio.wait({*pending, stop}, return_when=asyncio.FIRST_COMPLETED)
            done.discard(stop)
            pending -= done
            for task in done:
                each, tool = self._tasks[task]
                if stop.done() and _runs_again(tool, stop.result().source):
                    continue
                self.outcomes[each.call.id] = outcome = _result(task)
                if pending and tool.effect is Effect.EXTERNAL:
                    await early(each, outcome)

    async def _stop(self, source: InterruptSource) -> None:
        """Each call as its effect allows: cancelled at once, or awaited for a while."""
        if source is InterruptSource.FENCED:
            return
        shutdown = source is InterruptSource.SYSTEM
        await asyncio.gather(*(self._settle(task, shutdown=shutdown) for task in self._tasks))

    async def _settle(self, task: asyncio.Task[ToolOutcome], *, shutdown: bool) -> None:
        each, tool = self._tasks[task]
        if each.call.id in self.outcomes:
            return
        if shutdown and _runs_again(tool, InterruptSource.SYSTEM):
            task.cancel()
            return
        patience = PATIENCE[tool.effect]
        if shutdown:
            patience = min(patience, SHUTDOWN_PATIENCE)
        if not task.done() and patience:
            await asyncio.wait({task}, timeout=patience)
        if task.done():
            self.outcomes[each.call.id] = _result(task)
            return
        task.cancel()
        await asyncio.wait({task}, timeout=1.0)
        if tool.effect is not Effect.EXTERNAL and not shutdown:
            self.outcomes[each.call.id] = ToolOutcome.of_text(
                CUT_SHORT.format(name=each.call.name), ToolResultState.INTERRUPTED
            )

    def _abandon(self) -> None:
        """Whatever still runs is told to stop; nobody waits for it any more."""
        for task in self._tasks:
            if not task.done():
                task.cancel()


def _runs_again(tool: Tool, source: InterruptSource) -> bool:
    """Whether the next worker simply runs the call again.

    A tool that stopped because the process does has a result that nobody asked for.
    """
    return source is InterruptSource.SYSTEM and tool.effect is Effect.NONE


def _result(task: asyncio.Task[ToolOutcome]) -> ToolOutcome:
    if task.cancelled():
        return ToolOutcome.error("Error: Tool execution failed: the tool cancelled itself")
    return task.result()
