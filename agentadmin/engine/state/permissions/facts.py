"""What a decision is told about a tool; nothing here looks anything up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentadmin.engine.state.permissions.vocabulary import Behavior

type Matcher = Literal["none", "path", "command"]


@dataclass(frozen=True, slots=True)
class ToolCheck:
    """What a tool says about one call of itself."""

    behavior: Behavior = Behavior.PASSTHROUGH
    message: str = ""
    safety: bool = False
    """An ask that no rule and no mode may skip."""
    bypassable: bool = True
    """Whether an allow rule or the bypass mode may silence the tool's plain ask."""


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What is known of a tool when one of its calls is judged."""

    name: str
    read_only: bool = False
    file_edit: bool = False
    is_command: bool = False
    matcher: Matcher = "none"
    """How the content of a rule is compared with a call; `none` never matches."""
    check: ToolCheck | None = None
    plan_mode_allowed: bool = False
    """Allowed while a plan is made, although not read-only."""
    root: str = ""
    """The workspace: relative patterns of allow rules start here."""
