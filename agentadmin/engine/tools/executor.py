"""Runs one tool call and turns whatever comes of it into a result; failures are results."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import AgentAdminError, ToolError
from agentadmin.engine.messages import Block, TextBlock, ToolResultBlock, ToolResultState
from agentadmin.engine.messages.vocabulary import ARGUMENT_LEVELS
from agentadmin.engine.state import codec
from agentadmin.engine.tools.schema import violations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentadmin.engine.tools.context import ToolContext
    from agentadmin.engine.tools.toolkit import Tool

NO_RESULT = "Error: Tool execution failed: Tool completed without returning a result"


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call ended with, before it becomes a tool message."""

    state: ToolResultState
    output: tuple[Block, ...]
    metadata: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_text(cls, text: str, state: ToolResultState) -> ToolOutcome:
        return cls(state, (TextBlock.make(text),))

    @classmethod
    def error(cls, text: str) -> ToolOutcome:
        return cls.of_text(text, ToolResultState.ERROR)

    def block(self, call_id: str, name: str) -> ToolResultBlock:
        """The result block that answers this call."""
        return ToolResultBlock.make(
            id=call_id, name=name, output=self.output, metadata=self.metadata, state=self.state
        )


def refusal(
    tool: Tool | None, name: str, arguments: Mapping[str, Any], *, known: bool, truncated: bool
) -> ToolOutcome | None:
    """Why the call cannot run at all, in words the model can act on; None when it can."""
    if tool is None and known:
        return ToolOutcome.error(f"Error: Unauthorized tool call: '{name}' is not available")
    if tool is None:
        return ToolOutcome.error(f"Error: Tool not found: {name}")
    wrong = (
        "the arguments are not valid JSON" if truncated else violations(tool.schema_text, arguments)
    )
    if not wrong:
        return None
    return ToolOutcome.error(
        f"Error: Parameter validation failed for tool '{name}': {wrong}. "
        "Please correct the parameters and try again."
    )


async def execute(tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    """Run the call within its timeout. Only cancellation and MemoryError come out as errors."""
    limit = asyncio.timeout(tool.timeout)
    try:
        async with limit:
            value = await _invoke(tool, arguments, context)
        return _outcome(value)
    except (MemoryError, asyncio.CancelledError):
        raise
    except TimeoutError as error:
        if limit.expired():
            return ToolOutcome.error(f"Error: Tool execution timeout after {tool.timeout:g} s")
        return _failed(error)
    except BaseException as error:
        # Also SystemExit: a command line parser in a tool must not end the worker.
        return _failed(error)


def _failed(error: BaseException) -> ToolOutcome:
    detail = error.detail if isinstance(error, AgentAdminError) else str(error)
    return ToolOutcome.error(f"Error: Tool execution failed: {detail or type(error).__name__}")


async def _invoke(tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> Any:
    given = dict(arguments)
    if tool.context_argument:
        given[tool.context_argument] = context
    if inspect.iscoroutinefunction(tool.function):
        return await tool.function(**given)
    value = await _in_thread(lambda: tool.function(**given))
    return await value if inspect.isawaitable(value) else value


async def _in_thread(call: Callable[[], Any]) -> Any:
    """Run blocking code in a thread of its own.

    A pool would be joined at exit, so one hung tool would keep the worker alive for ever.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)

    def work() -> None:
        value, failure = None, None
        try:
            value = context.run(call)
        except BaseException as error:
            # Awaiting a future with a GeneratorExit in it would end the awaiting coroutine.
            known = isinstance(error, Exception | asyncio.CancelledError)
            failure = error if known else ToolError(str(error) or type(error).__name__)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=work, name="tool", daemon=True).start()
    return await future


def _outcome(value: Any) -> ToolOutcome:
    if isinstance(value, ToolOutcome):
        _check_written(value.metadata, value.output)
        return value
    if value is None:
        return ToolOutcome.error(NO_RESULT)
    if isinstance(value, Block):
        value = (value,)
    if isinstance(value, list | tuple) and value and all(isinstance(v, Block) for v in value):
        _check_written({}, value)
        return _settled(tuple(value))
    return _settled((TextBlock.make(value if isinstance(value, str) else codec.dumps(value)),))


def _check_written(metadata: Mapping[str, Any], output: Sequence[Block]) -> None:
    """Here what cannot be stored is the tool's error; at the commit it would be the run's."""
    codec.dumps([dict(metadata), *(block.raw for block in output)], levels=ARGUMENT_LEVELS)


def _settled(output: tuple[Block, ...]) -> ToolOutcome:
    """AgentScope's rule: a text that starts with `[ERROR]` is an error."""
    failed = any(isinstance(b, TextBlock) and b.text.startswith("[ERROR]") for b in output)
    return ToolOutcome(ToolResultState.ERROR if failed else ToolResultState.SUCCESS, output)
