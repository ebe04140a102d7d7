"""Hostile states, messages and calls for property tests."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from agentadmin.engine.messages import Msg
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.permissions import (
    Behavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
    ToolCheck,
    ToolFacts,
    WorkingDirectory,
)
from agentadmin.engine.state.plan import PlanModeContext
from agentadmin.engine.state.tasks import Task, TasksContext, TaskState
from agentadmin.engine.state.tool_context import ToolContext

NASTY = [
    "",
    "\x00",
    "\ud800",
    "\udfff",
    "</script>",
    "漢字",
    "\u2028",
    "a\\",
    '"',
    "\u202e",
    "[" * 300,
]
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

# JSON knows no difference between a pair of surrogates and the character that they form.
texts = (st.sampled_from(NASTY) | st.text(st.characters(), max_size=20)).filter(
    lambda text: not PAIR.search(text)
)
numbers = (
    st.integers()
    | st.integers(min_value=10**18, max_value=10**40)
    | st.floats(allow_nan=False)
    | st.just(-0.0)
)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
objects = st.dictionaries(texts, values, max_size=4)
moments = st.datetimes(timezones=st.just(UTC), min_value=datetime(2000, 1, 1))


media = st.sampled_from(["image", "audio", "video", "data"])
sources = st.builds(
    lambda kind, text: {
        "url": {"type": "url", "url": text, "mime_type": None},
        "base64": {"type": "base64", "data": text, "media_type": text},
    }[kind],
    st.sampled_from(["url", "base64"]),
    texts | st.sampled_from(["https://example.org/a.png", "file:///x?y#z", "x:", "http://["]),
)


@st.composite
def blocks(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(
        st.sampled_from(
            ["text", "thinking", "tool_use", "tool_result", "tool_call", "hint", "image", "odd"]
        )
    )
    fields: dict[str, Any] = {
        "text": {"text": draw(texts)},
        "thinking": {"thinking": draw(texts), "metadata": draw(st.none() | objects)},
        "tool_use": {
            "id": draw(st.sampled_from("abc")),
            "name": draw(texts),
            "input": draw(objects),
            "content": draw(st.none() | texts),
            "state": draw(st.sampled_from(["pending", "asking", "finished", "weird"])),
        },
        "tool_call": {"id": draw(st.sampled_from("abc")), "input": draw(texts)},
        "tool_result": {
            "id": draw(st.sampled_from("abc")),
            "output": draw(st.just([{"type": "text", "text": "x"}]) | texts),
            "metadata": draw(st.sampled_from([{}, {"agentscope_suspended": True}])),
        },
        "hint": {"hint": draw(texts | st.just([{"type": "text", "text": "x"}, {"type": "odd"}]))},
        "image": {"source": draw(sources), "name": draw(st.none() | texts)},
        "odd": draw(objects),
    }[kind]
    return {**fields, "type": draw(media) if kind == "image" else kind}


@st.composite
def messages(draw: st.DrawFn) -> Msg:
    raw = {
        **draw(objects),
        "id": draw(st.none() | texts),
        "name": draw(st.none() | texts),
        "role": draw(st.sampled_from(["ASSISTANT", "TOOL", "assistant", None, "ORACLE"])),
        "content": draw(st.lists(st.none() | blocks(), max_size=4)),
        "metadata": draw(st.none() | objects),
        "timestamp": draw(st.none() | texts),
        "usage": draw(st.none() | objects),
    }
    return Msg.from_dict(raw)


tool_names = st.sampled_from(["execute", "write_file", "漢"])
contents = (
    st.sampled_from(
        [None, "", "rm", "git status", "src/**", "/etc/**", "**", "'", "a && b", "[", "~/x"]
    )
    | st.none()
    | texts
)
rules = st.builds(
    PermissionRule,
    tool_names,
    contents,
    st.sampled_from(list(Behavior)),
    texts,
    st.none() | moments.map(datetime.isoformat),
)
tables = st.dictionaries(tool_names, st.lists(rules, max_size=3).map(tuple), max_size=3)
directories = st.dictionaries(
    texts, st.builds(WorkingDirectory, st.sampled_from(["/ws", "/", ""]), texts), max_size=2
)
permission_contexts = st.builds(
    PermissionContext,
    st.sampled_from(list(PermissionMode)),
    directories,
    tables,
    tables,
    tables,
)
plans = st.builds(PlanModeContext, st.booleans(), st.none() | texts)
tasks = st.builds(
    Task,
    texts,
    texts,
    created_at=st.none() | texts,
    state=st.sampled_from(list(TaskState)),
    owner=st.none() | texts,
    blocks=st.lists(texts, max_size=2).map(tuple),
)
checks = st.builds(ToolCheck, st.sampled_from(list(Behavior)), texts, st.booleans(), st.booleans())
tools = st.builds(
    ToolFacts,
    tool_names,
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["none", "path", "command"]),
    st.none() | checks,
    st.booleans(),
    st.sampled_from(["", "/ws"]),
)
commands = st.lists(
    st.sampled_from(
        [
            "rm",
            "-rf",
            "git",
            "status",
            "&&",
            ";",
            "|",
            "$(",
            ")",
            "`",
            "'",
            '"',
            "\\",
            ">",
            "<<",
            "\n",
            "#",
            "sudo",
            "bash",
            "-c",
            "eval",
            "{",
            "}",
            "/dev/null",
            ".env",
            "x",
        ]
    )
    | texts,
    max_size=12,
).map(" ".join)
paths = st.lists(st.sampled_from(["/ws/src/a", "/etc/x", "/", "", "/ws/.env"]) | texts, max_size=3)


@st.composite
def states(draw: st.DrawFn) -> AgentState:
    state = AgentState.new(
        draw(texts.filter(bool)), draw(st.none() | texts), draw(st.sampled_from(["main", "side"]))
    )
    state.summary = draw(texts)
    state.set_context(draw(st.lists(messages(), max_size=4)))
    state.reply_id = draw(texts)
    state.cur_iter = draw(st.integers())
    state.shutdown_interrupted = draw(st.booleans())
    state.permission_context = draw(permission_contexts)
    state.tool_context = ToolContext(activated_groups=tuple(draw(st.lists(texts, max_size=3))))
    state.tasks_context = TasksContext(tuple(draw(st.lists(tasks, max_size=3))))
    state.plan_mode_context = draw(plans)
    return state
