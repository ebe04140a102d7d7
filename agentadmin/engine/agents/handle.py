"""AgentRun: a single-use handle on one invocation, with its id before it starts (spec §4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from enum import StrEnum
from typing import TYPE_CHECKING

from agentadmin.engine.agents.emitter import Sink
from agentadmin.engine.agents.interrupt import InterruptControl
from agentadmin.engine.errors import Conflict
from agentadmin.engine.messages import Msg

if TYPE_CHECKING:
    from agentadmin.engine.events import Event


class HandleStatus(StrEnum):
    """Where a handle stands; the last three are terminal."""

    CREATED = "CREATED"
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


type Start = Callable[[AgentRun, Sink | None], Awaitable[Msg]]


class AgentRun:
    """Use `stream()` or `result()`, once."""

    def __init__(self, run_id: str, start: Start) -> None:
        self.run_id = run_id
        self.control = InterruptControl()
        self.status = HandleStatus.CREATED
        self._start = start
        self._task: asyncio.Task[Msg] | None = None
        self._finished = asyncio.Event()

    async def result(self) -> Msg:
        """Run and give the final message. Raises what the run failed with."""
        return await self._begin(None)

    async def stream(self) -> AsyncGenerator[Event, None]:
        """Run and yield events; leaving the loop early cancels the call."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        task = self._begin(queue.put_nowait)
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})

    async def termination(self) -> HandleStatus:
        """The terminal status, as soon as there is one and ever after."""
        await self._finished.wait()
        return self.status

    def interrupt(self, message: Msg | None = None) -> None:
        """Cancels what has not started; a running call stops at its next checkpoint."""
        if self.status in {HandleStatus.CREATED, HandleStatus.QUEUED}:
            self.cancel()
        else:
            self.control.trigger(message=message)

    def cancel(self) -> None:
        """Give the call up; one that was not started can not be started any more."""
        if self._task is not None:
            self._task.cancel()
        elif self.status is HandleStatus.CREATED:
            self._end(HandleStatus.CANCELLED)

    def running(self) -> None:
        """Called when the thread's gate lets the call in."""
        self.status = HandleStatus.RUNNING

    def _begin(self, sink: Sink | None) -> asyncio.Task[Msg]:
        if self.status is HandleStatus.CANCELLED:
            raise asyncio.CancelledError
        if self._task is not None:
            raise Conflict("This run was started already; a handle is used once.")
        self.status = HandleStatus.QUEUED
        self._task = asyncio.ensure_future(self._run(sink))
        return self._task

    async def _run(self, sink: Sink | None) -> Msg:
        try:
            message = await self._start(self, sink)
        except asyncio.CancelledError:
            self._end(HandleStatus.CANCELLED)
            raise
        except BaseException:
            self._end(HandleStatus.FAILED)
            raise
        self._end(HandleStatus.COMPLETED)
        return message

    def _end(self, status: HandleStatus) -> None:
        self.status = status
        self._finished.set()
