"""Operations on plan mode; a person's act needs no approval by the model's user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.state.operations import OperationSpec
from agentadmin.engine.state.plan import DEFAULT_PLAN_FILE

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.reading import Reader

_PERMISSION = "sessions:edit"
_SUBSTATES = frozenset({"plan_mode_context"})


def _enter(state: AgentState, _operation: Reader, _now: datetime) -> None:
    state.plan_mode_context = state.plan_mode_context.entered(DEFAULT_PLAN_FILE)


def _exit(state: AgentState, _operation: Reader, _now: datetime) -> None:
    """Leaving what was not entered changes nothing."""
    state.plan_mode_context = state.plan_mode_context.left()


ENTER_PLAN_MODE = OperationSpec(
    name="enter_plan_mode", permission=_PERMISSION, substates=_SUBSTATES, change=_enter
)
EXIT_PLAN_MODE = OperationSpec(
    name="exit_plan_mode", permission=_PERMISSION, substates=_SUBSTATES, change=_exit
)
