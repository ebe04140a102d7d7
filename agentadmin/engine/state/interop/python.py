"""AgentScope for Python 2.x: its state document, in both generations of its layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.identity import MAIN_THREAD
from agentadmin.engine.messages import Block, text_of
from agentadmin.engine.state.agent_state import SUMMARY_BLOCKS, AgentState
from agentadmin.engine.state.interop.aside import (
    ASIDE,
    FIELDS,
    LAYOUT,
    OLD_LAYOUT,
    aside_of,
    summary_blocks,
)
from agentadmin.engine.state.interop.formats import Format
from agentadmin.engine.state.interop.python_blocks import NO_PLACE
from agentadmin.engine.state.interop.python_messages import python_context
from agentadmin.engine.state.interop.readable import readable
from agentadmin.engine.state.interop.rules import lasting_rules
from agentadmin.engine.state.interop.sources import restored
from agentadmin.engine.state.reading import Reader

if TYPE_CHECKING:
    from agentadmin.engine.state.interop.losses import Losses
    from agentadmin.engine.state.interop.sources import Known
    from agentadmin.engine.state.interop.written import Source, Written
    from agentadmin.engine.state.reading import Raw

_IDS = ("reply_id", "cur_iter")
_EMPTY_REPLY = {"structured_schema": None, "structured_output": None}
_TASK_FIELDS = ("tasks",)


def read(document: Any) -> AgentState:
    """The state; messages keep their own shape, what has no counterpart is kept aside."""
    reader = Reader(document)
    native = {**reader.raw}
    aside: Raw = {}
    if "reply_context" in native:
        reply = Reader(reader.object("reply_context"), "reply_context")
        del native["reply_context"]
        aside["reply_context"] = reply.rest(_IDS)
        ids = {name: reply.raw.get(name, reader.raw.get(name)) for name in _IDS}
        native |= {"reply_id": reply.text("reply_id") or ids["reply_id"]}
        native |= {"cur_iter": reply.integer("cur_iter", reader.integer("cur_iter", 0))}
    elif any(name in native for name in _IDS):
        aside[LAYOUT] = OLD_LAYOUT
    if "middle_context" in native:
        aside["middle_context"] = reader.object("middle_context")
        del native["middle_context"]
    blocks = native.get("summary")
    if isinstance(blocks, list):
        parts = [Block.from_dict(raw, f"summary[{index}]") for index, raw in enumerate(blocks)]
        native["summary"] = text_of(parts)
        native[SUMMARY_BLOCKS] = blocks
    if aside:
        native[ASIDE] = aside
    return AgentState.from_dict(native)


def write(state: AgentState, source: Source | None = None) -> Written:
    """The document; one that Python wrote itself goes out again as it came, where untouched."""
    return restored(Format.PYTHON, state, source, read, _document)


def _document(state: AgentState, known: Known, losses: Losses) -> Raw:
    aside = aside_of(state)
    blocks = summary_blocks(state)
    context = python_context(state.context, known, losses)
    ids = {"reply_id": _reply_id(state, context, losses), "cur_iter": state.cur_iter}
    raw: Raw = {
        "session_id": state.session_id,
        "summary": state.summary if blocks is None else blocks,
        "context": context,
    }
    if aside.get(LAYOUT) == OLD_LAYOUT:
        raw |= ids
    else:
        kept = aside.get("reply_context")
        raw["reply_context"] = {**ids, **(_EMPTY_REPLY if kept is None else kept)}
    raw |= {
        "permission_context": _permissions(state, losses),
        "tool_context": _tools(state, losses),
        "tasks_context": _tasks(state, losses),
        "middle_context": aside.get("middle_context", {}),
    }
    for name in (name for name in state.extra if name not in FIELDS):
        raw[name] = state.extra[name]
        losses.ignored(name, "AgentScope for Python does not know this field")
    _tell_missing(state, losses)
    return readable(raw, losses)


def _tell_missing(state: AgentState, losses: Losses) -> None:
    if state.user_id is not None:
        losses.dropped("user_id", NO_PLACE)
    if state.thread_id != MAIN_THREAD:
        losses.dropped("thread_id", NO_PLACE)
    if state.shutdown_interrupted:
        losses.dropped("shutdown_interrupted", NO_PLACE)
    plan = state.plan_mode_context
    if plan.plan_active:
        losses.dropped("plan_mode_context.plan_active", f"plan mode {NO_PLACE}")
    if plan.current_plan_file is not None:
        losses.dropped("plan_mode_context.current_plan_file", NO_PLACE)
    for name in plan.extra:
        losses.dropped(f"plan_mode_context.{name}", NO_PLACE)


def _reply_id(state: AgentState, context: list[Raw], losses: Losses) -> str:
    """A reply that waits for an answer is found by its message's id there."""
    last = context[-1] if context else {}
    waits = last.get("role") == "assistant" and _awaiting(last.get("content") or [])
    if not waits or last.get("id") in (None, state.reply_id):
        if waits and "id" not in last:
            context[-1] = {**last, "id": state.reply_id}
        return state.reply_id
    losses.changed("reply_id", "it is the id of the message whose calls wait for an answer there")
    return str(last["id"])


def _awaiting(content: list[Any]) -> bool:
    blocks = [block for block in content if isinstance(block, dict)]
    answered = {block.get("id") for block in blocks if block.get("type") == "tool_result"}
    return any(
        block.get("type") == "tool_call"
        and block.get("state") in ("asking", "submitted")
        and block.get("id") not in answered
        for block in blocks
    )


def _permissions(state: AgentState, losses: Losses) -> Raw:
    """A directory needs a source there."""
    raw = lasting_rules(state.permission_context, losses)
    for directory in raw["working_directories"].values():
        if directory["source"] is None:
            directory["source"] = "unknown"
    return raw


def _tools(state: AgentState, losses: Losses) -> Raw:
    tools = state.tool_context
    if tools.spawn_registry:
        losses.dropped("tool_context.spawn_registry", NO_PLACE)
    extra = dict(tools.extra)
    cache = extra.pop("read_file_cache", [])
    for name in extra:
        losses.ignored(f"tool_context.{name}", "AgentScope for Python does not know this field")
    return {
        "max_cache_files": tools.max_cache_files,
        "max_cache_bytes": tools.max_cache_bytes,
        "read_file_cache": cache,
        "activated_groups": list(tools.activated_groups),
        **extra,
    }


def _tasks(state: AgentState, losses: Losses) -> Raw:
    """Tasks without a time get none: Python would refuse null, and makes up a missing one."""
    raw = state.tasks_context.to_dict()
    for name in raw:
        if name not in _TASK_FIELDS:
            losses.ignored(f"tasks_context.{name}", "AgentScope for Python does not know it")
    for index, task in enumerate(state.tasks_context.tasks):
        for name in task.extra:
            losses.ignored(f"tasks_context.tasks[{index}].{name}", "it is not known there")
        if task.created_at is None:
            del raw["tasks"][index]["created_at"]
    return raw
