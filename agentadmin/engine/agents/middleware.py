"""Middleware: an onion around the call, each reasoning, each acting and each model call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentadmin.engine.agents.admission import RunResult
from agentadmin.engine.messages import FinishReason, Msg, ToolUseBlock
from agentadmin.engine.models.base import ChunkStream, ModelRequest
from agentadmin.engine.tools.executor import ToolOutcome

if TYPE_CHECKING:
    from agentadmin.engine.runtime_context import RuntimeContext

type Outcomes = Mapping[str, ToolOutcome]
type NextAgent = Callable[[], Awaitable[RunResult]]
type NextReasoning = Callable[[ModelRequest], Awaitable[Msg | None]]
type NextActing = Callable[[Sequence[ToolUseBlock]], Awaitable[Outcomes]]
type NextModel = Callable[[ModelRequest], ChunkStream]


class Middleware:
    """Override what you need; a larger `order` lies further outside, equal ones as registered."""

    order = 1

    async def on_system_prompt(self, ctx: RuntimeContext, prompt: str) -> str:
        """The system prompt, passed from the outermost inwards."""
        return prompt

    async def on_agent(self, ctx: RuntimeContext, proceed: NextAgent) -> RunResult:
        """Around the whole run."""
        return await proceed()

    async def on_reasoning(
        self, ctx: RuntimeContext, request: ModelRequest, proceed: NextReasoning
    ) -> Msg | None:
        """Around one reasoning: the request may be changed on its way in."""
        return await proceed(request)

    async def on_acting(
        self, ctx: RuntimeContext, calls: Sequence[ToolUseBlock], proceed: NextActing
    ) -> Outcomes:
        """Around the tools of one step: outcomes may be changed on their way out."""
        return await proceed(calls)

    def on_model_call(
        self, ctx: RuntimeContext, request: ModelRequest, proceed: NextModel
    ) -> ChunkStream:
        """Around one model call: changed text is what is stored."""
        return proceed(request)


@dataclass(slots=True)
class StopRequest:
    """In the RuntimeContext by its type: a middleware ends the run after the present phase."""

    reason: str = ""
    finish: FinishReason | None = None

    def request(
        self, reason: str, finish: FinishReason = FinishReason.MIDDLEWARE_STOP_REQUESTED
    ) -> None:
        """Ask for the stop; the first one wins."""
        if self.finish is None:
            self.reason, self.finish = reason, finish


def ordered(middleware: Sequence[Middleware]) -> tuple[Middleware, ...]:
    """Outermost first."""
    return tuple(sorted(middleware, key=lambda layer: -layer.order))


def around_agent(layers: Sequence[Middleware], ctx: RuntimeContext, core: NextAgent) -> NextAgent:
    """The run inside its middleware."""
    for layer in reversed(layers):
        core = _bind_agent(layer, ctx, core)
    return core


def _bind_agent(layer: Middleware, ctx: RuntimeContext, inner: NextAgent) -> NextAgent:
    return lambda: layer.on_agent(ctx, inner)


def around_reasoning(
    layers: Sequence[Middleware], ctx: RuntimeContext, core: NextReasoning
) -> NextReasoning:
    """One reasoning inside its middleware."""
    for layer in reversed(layers):
        core = _bind_reasoning(layer, ctx, core)
    return core


def _bind_reasoning(layer: Middleware, ctx: RuntimeContext, inner: NextReasoning) -> NextReasoning:
    return lambda request: layer.on_reasoning(ctx, request, inner)


def around_acting(
    layers: Sequence[Middleware], ctx: RuntimeContext, core: NextActing
) -> NextActing:
    """The tools of a step inside their middleware."""
    for layer in reversed(layers):
        core = _bind_acting(layer, ctx, core)
    return core


def _bind_acting(layer: Middleware, ctx: RuntimeContext, inner: NextActing) -> NextActing:
    return lambda calls: layer.on_acting(ctx, calls, inner)


def around_model(layers: Sequence[Middleware], ctx: RuntimeContext, core: NextModel) -> NextModel:
    """One model call inside its middleware."""
    for layer in reversed(layers):
        core = _bind_model(layer, ctx, core)
    return core


def _bind_model(layer: Middleware, ctx: RuntimeContext, inner: NextModel) -> NextModel:
    return lambda request: layer.on_model_call(ctx, request, inner)
