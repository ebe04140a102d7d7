"""ToolContext: what a running tool may know and do besides its arguments."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentadmin.engine.agents.interrupt import InterruptControl, InterruptSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agentadmin.engine.messages import Msg
    from agentadmin.engine.runtime_context import RuntimeContext


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Handed to a tool that has a parameter of this type; never part of its schema."""

    runtime: RuntimeContext
    control: InterruptControl
    call_id: str
    tool: str
    workspace: Path | None
    report: Callable[[str], None]
    groups: tuple[str, ...] = ()
    """The groups of tools that the agent has, active or not."""

    @property
    def interrupted(self) -> bool:
        """Whether the run is being stopped; a cooperative tool then returns soon."""
        return self.control.stopping

    def progress(self, text: str) -> None:
        """Tell those who watch how far the work is; this is not part of the result."""
        self.report(text)

    async def sleep(self, seconds: float) -> bool:
        """Sleep; False at once when the run is interrupted."""
        try:
            async with asyncio.timeout(seconds):
                await self.control.wait()
        except TimeoutError:
            return True
        return False

    def interrupt(self, message: Msg | None = None) -> None:
        """Stop the run from inside a tool."""
        self.control.trigger(InterruptSource.TOOL, message=message)
