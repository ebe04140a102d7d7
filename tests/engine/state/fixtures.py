"""The recorded documents of AgentScope, for Java and for Python, that these tests read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentadmin.engine.state.agent_state import AgentState

DATA = Path(__file__).parents[2] / "data"
JAVA = DATA / "agentscope-java"
PYTHON = DATA / "agentscope-python"


def text(name: str) -> str:
    return (JAVA / name).read_text(encoding="utf-8")


def document(name: str) -> Any:
    return json.loads(text(name))


def full_state() -> AgentState:
    return AgentState.from_json(text("agent_state_full.json"))


def python_text(name: str) -> str:
    return (PYTHON / name).read_text(encoding="utf-8")


def python_document(name: str) -> Any:
    return json.loads(python_text(name))


def expected_facts() -> dict[str, Any]:
    """Per file of Python's, what its own code says about it."""
    facts: dict[str, Any] = python_document("expected_facts.json")
    return facts
