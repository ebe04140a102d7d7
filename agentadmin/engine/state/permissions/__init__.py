"""Permissions: what is stored about them, and the one decision about a call."""

from __future__ import annotations

from agentadmin.engine.state.permissions.context import (
    PermissionContext,
    PermissionRule,
    RuleKey,
    WorkingDirectory,
)
from agentadmin.engine.state.permissions.decision import Decision, decide
from agentadmin.engine.state.permissions.facts import Matcher, ToolCheck, ToolFacts
from agentadmin.engine.state.permissions.vocabulary import Behavior, PermissionMode
from agentadmin.engine.state.permissions.warnings import RuleWarning, configuration_warnings

__all__ = [
    "Behavior",
    "Decision",
    "Matcher",
    "PermissionContext",
    "PermissionMode",
    "PermissionRule",
    "RuleKey",
    "RuleWarning",
    "ToolCheck",
    "ToolFacts",
    "WorkingDirectory",
    "configuration_warnings",
    "decide",
]
