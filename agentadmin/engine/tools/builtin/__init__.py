"""The tools that come with the engine."""

from __future__ import annotations

from agentadmin.engine.tools.builtin.calculator import calculator
from agentadmin.engine.tools.builtin.editing import edit_file, search_files
from agentadmin.engine.tools.builtin.files import list_files, read_file, write_file
from agentadmin.engine.tools.builtin.groups import reset_equipped_tools
from agentadmin.engine.tools.builtin.orders import OrderBook, create_order
from agentadmin.engine.tools.builtin.people import ask_user
from agentadmin.engine.tools.builtin.planning import (
    plan_enter,
    plan_exit,
    plan_write,
    todo_write,
)
from agentadmin.engine.tools.builtin.shell import execute
from agentadmin.engine.tools.builtin.timing import current_time, sleep
from agentadmin.engine.tools.builtin.web import http_get

DEMO_TOOLS = (
    calculator,
    current_time,
    sleep,
    read_file,
    list_files,
    search_files,
    write_file,
    edit_file,
    execute,
    http_get,
    todo_write,
    plan_enter,
    plan_write,
    plan_exit,
    ask_user,
    create_order,
)
"""Every tool of the `demo` agent."""

HARMLESS_TOOLS = (
    "calculator",
    "current_time",
    "sleep",
    "read_file",
    "list_files",
    "search_files",
    "todo_write",
    "plan_enter",
    "plan_write",
)
"""The demo tools that its permission context allows without asking."""

__all__ = [
    "DEMO_TOOLS",
    "HARMLESS_TOOLS",
    "OrderBook",
    "ask_user",
    "calculator",
    "create_order",
    "current_time",
    "edit_file",
    "execute",
    "http_get",
    "list_files",
    "plan_enter",
    "plan_exit",
    "plan_write",
    "read_file",
    "reset_equipped_tools",
    "search_files",
    "sleep",
    "todo_write",
    "write_file",
]
