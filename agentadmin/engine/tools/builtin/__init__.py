"""The tools that come with the engine."""

from __future__ import annotations

from agentadmin.engine.tools.builtin.calculator import calculator
from agentadmin.engine.tools.builtin.files import list_files, read_file, write_file
from agentadmin.engine.tools.builtin.orders import OrderBook, create_order
from agentadmin.engine.tools.builtin.people import ask_user
from agentadmin.engine.tools.builtin.timing import current_time, sleep

DEMO_TOOLS = (
    calculator,
    current_time,
    sleep,
    read_file,
    list_files,
    write_file,
    ask_user,
    create_order,
)
"""Every tool of the `demo` agent."""

HARMLESS_TOOLS = ("calculator", "current_time", "sleep", "read_file", "list_files")
"""The demo tools that its permission context allows without asking."""

__all__ = [
    "DEMO_TOOLS",
    "HARMLESS_TOOLS",
    "OrderBook",
    "ask_user",
    "calculator",
    "create_order",
    "current_time",
    "list_files",
    "read_file",
    "sleep",
    "write_file",
]
