"""Permissions: what is stored about them, and the one decision about a call."""

from __future__ import annotations

from agentadmin.engine.state.permissions.context import (
    PermissionContext,
    PermissionRule,
    RuleKey,
    WorkingDirectory,
)
from agentadmin.engine.state.permissions.facts import Matcher, ToolCheck, ToolFacts
from agentadmin.engine.state.permissions.vocabulary import Behavior, PermissionMode

__all__ = [
    "Behavior",
    "Matcher",
    "PermissionContext",
    "PermissionMode",
    "PermissionRule",
    "RuleKey",
    "ToolCheck",
    "ToolFacts",
    "WorkingDirectory",
]
