"""The recorded documents of AgentScope for Java that these tests read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentadmin.engine.state.agent_state import AgentState

JAVA = Path(__file__).parents[2] / "data" / "agentscope-java"


def text(name: str) -> str:
    return (JAVA / name).read_text(encoding="utf-8")


def document(name: str) -> Any:
    return json.loads(text(name))


def full_state() -> AgentState:
    return AgentState.from_json(text("agent_state_full.json"))
