"""The words of permissions: modes, behaviours, and the names of the steps of a decision."""

from __future__ import annotations

from enum import StrEnum


class PermissionMode(StrEnum):
    """What happens to a call that no rule speaks about."""

    DEFAULT = "default"
    ACCEPT_EDITS = "accept_edits"
    EXPLORE = "explore"
    BYPASS = "bypass"
    DONT_ASK = "dont_ask"


class Behavior(StrEnum):
    """What a rule, a tool or a decision says about a call."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    PASSTHROUGH = "passthrough"
