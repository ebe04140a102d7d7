"""An own agent whose module makes its worker die at a chosen place, named by the environment.

`FAULT=publish:<fact type>`: after such a fact was committed, before it is published.
`FAULT=order`: when an order was recorded, before the tool hears of it.
"""

import os
import signal
from typing import Any

from agentadmin.engine.agents.harness import HarnessAgent, HarnessAgentBuilder
from runs_app.demo_tools import DemoOrderBook
from runs_app.live.writer import StreamWriter


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


FAULT, _, WHERE = os.environ.get("FAULT", "").partition(":")
if FAULT == "publish":
    _facts = StreamWriter.facts

    def facts(writer: StreamWriter, thread_id: str, facts: Any) -> None:
        if any(fact.type == WHERE for fact in facts):
            die()
        _facts(writer, thread_id, facts)

    StreamWriter.facts = facts  # type: ignore[method-assign]
elif FAULT == "order":
    _record = DemoOrderBook._record

    def record(book: DemoOrderBook, *args: Any) -> str:
        number = _record(book, *args)
        die()
        return number

    DemoOrderBook._record = record  # type: ignore[method-assign]


def agent() -> HarnessAgentBuilder:
    """Never called by a test: it is here so that workers import this module."""
    return HarnessAgent.builder().name("faulty").model("offline:demo")
