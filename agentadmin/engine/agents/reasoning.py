"""One reasoning: build the request, commit that it leaves, stream the answer into the state."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from agentadmin.engine.agents.assembler import Assembler
from agentadmin.engine.agents.calls import PARTIAL, call_ids
from agentadmin.engine.agents.interrupt import Interrupted, InterruptSource
from agentadmin.engine.agents.middleware import around_model, around_reasoning
from agentadmin.engine.context.request import build
from agentadmin.engine.errors import ModelError
from agentadmin.engine.events import EventType
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.messages import Block, Msg, assistant_message
from agentadmin.engine.models.base import ChunkStream, ModelRequest, Purpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.agents.run import Execution


async def reason(
    run: Execution, reminders: Sequence[Msg] = (), *, purpose: Purpose = Purpose.REASONING
) -> Msg | None:
    """The model's answer, already in the context; None when it said nothing at all."""
    step = run.next_step()
    prompt = await run.system_prompt()
    built = build(run.state, prompt, reminders)
    offered = run.active_tools() if purpose is Purpose.REASONING else None
    prepared = {
        "model_call": f"{run.run_id}/{step.number}",
        "model": run.spec.model.name,
        "items": len(run.state.context_mutable()),
        "tokens": run.log.tokens(),
        "transient": built.transient,
        "tools_digest": offered.digest if offered else None,
    }
    # Acknowledged before the request leaves: no model call without a trace.
    await run.flush([run.log.fact(FactType.REQUEST_PREPARED, prepared)], reason="request")
    request = ModelRequest(built.messages, offered.schemas if offered else (), purpose)

    async def core(request: ModelRequest) -> Msg | None:
        return await _stream(run, request)

    return await around_reasoning(run.spec.middleware, run.ctx, core)(request)


async def _stream(run: Execution, request: ModelRequest) -> Msg | None:
    """Stream one answer; blocks and the model call are closed however it ends."""
    step = run.step
    message = assistant_message((), name=run.spec.name)
    assembler = Assembler(run.emit, step, str(message.id))
    started = time.monotonic()
    run.emit(EventType.MODEL_CALL_START, step, replyId=step.reply_id)
    try:
        async with run.control.scope():
            await _consume(run, request, assembler)
    except (Interrupted, asyncio.CancelledError) as stop:
        if _keeps_partial(run, stop):
            partial = message.with_metadata(**{PARTIAL: _cut_by(stop)})
            _store(run, partial, assembler.partial_blocks(), assembler, started)
        raise
    finally:
        assembler.close()
        usage = _usage(assembler, started)
        run.emit(EventType.MODEL_CALL_END, step, replyId=step.reply_id, usage=usage)
    blocks = assembler.blocks(lambda: call_ids(run.state.context_mutable()))
    return _store(run, message, blocks, assembler, started)


async def _consume(run: Execution, request: ModelRequest, assembler: Assembler) -> None:
    chunks = around_model(run.spec.middleware, run.ctx, lambda r: _with_retries(run, r))(request)
    async with aclosing(chunks) as stream:
        async for chunk in stream:
            assembler.feed(chunk)


async def _with_retries(run: Execution, request: ModelRequest) -> ChunkStream:
    """Try again after a retryable failure, as long as nothing of the answer was seen."""
    policy = run.spec.model.retry
    while True:
        seen = False
        try:
            async with aclosing(run.spec.model.stream(request)) as stream:
                async for chunk in stream:
                    seen = True
                    yield chunk
            return
        except ModelError as error:
            wanted = error.retry_after
            if seen or not error.retryable or not policy.allows(request.attempt, wanted):
                raise
        await asyncio.sleep(policy.delay(request.attempt, wanted))
        request = replace(request, attempt=request.attempt + 1)


def _cut_by(stop: BaseException) -> str:
    """What cuts an answer off, as its metadata names it."""
    shutdown = isinstance(stop, Interrupted) and stop.signal.source is InterruptSource.SYSTEM
    return "shutdown" if shutdown else "interrupt"


def _keeps_partial(run: Execution, stop: BaseException) -> bool:
    if not isinstance(stop, Interrupted):
        return True
    return stop.signal.source is not InterruptSource.SYSTEM or run.spec.keep_partial_on_shutdown


def _store(
    run: Execution, message: Msg, blocks: Sequence[Block], assembler: Assembler, started: float
) -> Msg | None:
    run.usage.calls += 1
    if assembler.usage is not None:
        run.usage.input += assembler.usage.input_tokens
        run.usage.output += assembler.usage.output_tokens
    if not blocks:
        return None
    stored = message.replace(
        content=[block.raw for block in blocks], usage=_usage(assembler, started)
    )
    run.state.context_mutable().append(stored)
    return stored


def _usage(assembler: Assembler, started: float) -> dict[str, float] | None:
    counted = assembler.usage
    if counted is None:
        return None
    return {
        "inputTokens": counted.input_tokens,
        "outputTokens": counted.output_tokens,
        "cachedTokens": counted.cached_tokens,
        "time": round(time.monotonic() - started, 3),
        "totalTokens": counted.input_tokens + counted.output_tokens,
    }
