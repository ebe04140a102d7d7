"""`ask_user`: a question that a person answers while the turn waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from agentadmin.engine.errors import ToolError
from agentadmin.engine.state.permissions import Behavior, ToolCheck
from agentadmin.engine.tools.toolkit import Effect, Waits, tool

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _always(_arguments: Mapping[str, Any], _workspace: Path | None) -> ToolCheck:
    """Asking for leave to ask would be absurd."""
    return ToolCheck(behavior=Behavior.ALLOW, message="a question changes nothing")


@tool(effect=Effect.NONE, waits=Waits.QUESTION, plan_mode_allowed=True, check=_always)
def ask_user(
    question: Annotated[str, "What to ask", {"minLength": 1, "maxLength": 4000}],
    choices: Annotated[list[str] | None, "Answers to choose from"] = None,
) -> str:
    """Ask the user a question and wait for the answer."""
    raise ToolError(f"a person answers this, not the process: {question} {choices or ''}")
