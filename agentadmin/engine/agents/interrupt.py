"""InterruptControl: the stop signal of one execution, set from any thread, never stored."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

    from agentadmin.engine.messages import Msg


class InterruptSource(StrEnum):
    """Who stops the run. system: shutdown. fenced: another worker owns the thread now."""

    USER = "user"
    TOOL = "tool"
    SYSTEM = "system"
    FENCED = "fenced"


class InterruptKind(StrEnum):
    """What becomes of the turn: interrupted, cancelled, or paused at the next step's edge."""

    INTERRUPT = "interrupt"
    CANCEL = "cancel"
    PAUSE = "pause"


@dataclass(frozen=True, slots=True)
class Signal:
    """One stop request as the execution sees it."""

    source: InterruptSource
    kind: InterruptKind = InterruptKind.INTERRUPT
    message: Msg | None = None
    by: dict[str, Any] | None = None
    reason: str | None = None

    @property
    def stops_at_once(self) -> bool:
        """A pause waits for a safe boundary; everything else stops streams and tools."""
        return self.kind is not InterruptKind.PAUSE


class Interrupted(Exception):  # noqa: N818 - an outcome, not an error
    """Raised inside the loop where it notices the signal."""

    def __init__(self, signal: Signal) -> None:
        super().__init__(f"interrupted by {signal.source}")
        self.signal = signal


type Wake = Callable[[], None]


class InterruptControl:
    """Owned by one execution; `trigger` is safe from every thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._signal: Signal | None = None
        self._wakes: dict[int, tuple[asyncio.AbstractEventLoop, Wake]] = {}
        self._next_wake = 0

    @property
    def signal(self) -> Signal | None:
        """The stop request, once there is one."""
        return self._signal

    @property
    def stopping(self) -> bool:
        """Whether streams and tools should stop now."""
        return self._signal is not None and self._signal.stops_at_once

    def trigger(
        self,
        source: InterruptSource = InterruptSource.USER,
        *,
        kind: InterruptKind = InterruptKind.INTERRUPT,
        message: Msg | None = None,
        by: dict[str, Any] | None = None,
        reason: str | None = None,
    ) -> None:
        """Stop the execution. A later trigger replaces source and kind, never a message by none.

        A pause replaces no stop. A lost lease is final: nothing may be written any more, whoever
        else asks for what.
        """
        with self._lock:
            self._signal = _merge(self._signal, Signal(source, kind, message, by, reason))
            wakes = list(self._wakes.values()) if self._signal.stops_at_once else []
        for loop, wake in wakes:
            if not loop.is_closed():
                loop.call_soon_threadsafe(wake)

    def check(self) -> None:
        """A cooperative checkpoint. Raises Interrupted when the run should stop now."""
        if self._signal is not None and self._signal.stops_at_once:
            raise Interrupted(self._signal)

    def scope(self) -> InterruptScope:
        """`async with control.scope():` the body is cancelled and Interrupted raised on a signal.

        It costs no task and nothing per chunk, unlike racing every await against the signal.
        """
        return InterruptScope(self)

    async def wait(self) -> Signal:
        """Until the run should stop; for tools that can end early by themselves."""
        event = asyncio.Event()
        token = self._add(event.set)
        try:
            while (signal := self._signal) is None or not signal.stops_at_once:
                await event.wait()
            return signal
        finally:
            self._remove(token)

    def _add(self, wake: Wake) -> int:
        with self._lock:
            self._next_wake += 1
            self._wakes[self._next_wake] = (asyncio.get_running_loop(), wake)
            return self._next_wake

    def _remove(self, token: int) -> None:
        with self._lock:
            self._wakes.pop(token, None)


def _merge(old: Signal | None, new: Signal) -> Signal:
    if old is None:
        return new
    if old.source is InterruptSource.FENCED or (old.stops_at_once and not new.stops_at_once):
        # A lost lease is final, and what is stopping now needs no pause.
        return old
    return replace(
        new,
        message=new.message or old.message,
        by=new.by or old.by,
        reason=new.reason or old.reason,
    )


class InterruptScope:
    """A stretch of code that an interrupt cancels, in the manner of `asyncio.timeout`."""

    def __init__(self, control: InterruptControl) -> None:
        self._control = control
        self._task: asyncio.Task[Any] | None = None
        self._token = 0
        self._cancelling = 0
        self._fired: Signal | None = None

    async def __aenter__(self) -> Self:
        self._task = task = asyncio.current_task()
        self._cancelling = task.cancelling() if task else 0
        # Registered first: a signal between a check and the registration would wake nobody.
        self._token = self._control._add(self._fire)
        try:
            self._control.check()
        except Interrupted:
            self._task = None
            self._control._remove(self._token)
            raise
        return self

    def _fire(self) -> None:
        if self._task is not None and self._fired is None:
            self._fired = self._control.signal
            self._task.cancel()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._control._remove(self._token)
        task, self._task = self._task, None
        if self._fired is None or task is None:
            return
        if task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise Interrupted(self._fired) from error
