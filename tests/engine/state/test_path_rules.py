"""How rules compare patterns with resolved paths."""

from __future__ import annotations

import pytest

from agentadmin.engine.state.permissions import (
    PermissionContext,
    PermissionMode,
    ToolFacts,
    WorkingDirectory,
)
from tests.engine.state.asking import ask, context, rule

WRITE = ToolFacts("write_file", matcher="path", file_edit=True, root="/ws")


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/etc/**", "/etc/passwd", True),
        ("/etc/**", "/etc/a/b/c", True),
        ("/etc/**", "/etc", True),
        ("/etc/**", "/etcetera/x", False),
        ("/etc/", "/etc/passwd", True),
        ("/etc/*", "/etc/passwd", True),
        ("/etc/*", "/etc/a/b", False),
        ("/etc/passwd", "/etc/passwd", True),
        ("/etc/passw?", "/etc/passwd", True),
        ("/a/**/z", "/a/z", True),
        ("/a/**/z", "/a/b/c/z", True),
        ("/a/**/z", "/a/b/c/y", False),
        ("/a/[bc]/z", "/a/b/z", True),
        ("/a/[!bc]/z", "/a/b/z", False),
        ("/a/[", "/a/[", True),
        ("/**", "/x", True),
        ("/", "/x", False),
    ],
)
def test_an_absolute_pattern_means_the_same_to_deny_and_allow(
    pattern: str, path: str, matches: bool
) -> None:
    denied = ask(context(rule("deny", "write_file", pattern), mode="bypass"), WRITE, paths=[path])
    allowed = ask(context(rule("allow", "write_file", pattern)), WRITE, paths=[path])
    assert (denied.behavior == "deny") is matches
    assert (allowed.behavior == "allow") is matches


@pytest.mark.parametrize(
    ("pattern", "path", "denies", "allows"),
    [
        ("src/**", "/ws/src/a.py", True, True),
        ("./src/**", "/ws/src/a.py", True, True),
        ("src/**", "/elsewhere/src/a.py", True, False),
        ("*.lock", "/ws/x.lock", True, True),
        ("*.lock", "/ws/deep/x.lock", True, False),
        ("**", "/elsewhere", True, False),
        ("**", "/ws/any/thing", True, True),
        ("secrets/", "/ws/a/secrets/k", True, False),
        ("src/**", "/wsx/src/a.py", True, False),
    ],
)
def test_a_relative_pattern_forbids_anywhere_and_allows_in_the_workspace(
    pattern: str, path: str, denies: bool, allows: bool
) -> None:
    denied = ask(context(rule("deny", "write_file", pattern), mode="bypass"), WRITE, paths=[path])
    allowed = ask(context(rule("allow", "write_file", pattern)), WRITE, paths=[path])
    assert (denied.behavior == "deny") is denies
    assert (allowed.behavior == "allow") is allows


def test_a_relative_pattern_also_allows_in_working_directories() -> None:
    made = PermissionContext(
        PermissionMode.DEFAULT, {"/proj": WorkingDirectory("/proj/", "test")}
    ).with_rule(rule("allow", "write_file", "src/*"))
    assert ask(made, WRITE, paths=["/proj/src/a"]).because == "allow_rule"


def test_one_forbidden_path_forbids_and_one_uncovered_path_asks() -> None:
    made = context(
        rule("deny", "write_file", "/etc/**"),
        rule("allow", "write_file", "/ws/a/**"),
        rule("allow", "write_file", "/ws/b/**"),
    )
    assert ask(made, WRITE, paths=["/ws/a/x", "/etc/x"]).because == "deny_rule"
    assert ask(made, WRITE, paths=["/ws/a/x", "/ws/b/x"]).because == "allow_rule"
    assert ask(made, WRITE, paths=["/ws/a/x", "/ws/c/x"]).because == "mode"
    assert ask(made, WRITE, paths=[]).because == "mode"


def test_a_pattern_from_an_imported_file_cannot_stall_the_gate() -> None:
    pattern = "/" + "**/a/" * 60 + "*a*a*a*a*a*a*a*a*b"
    path = "/" + "a/" * 200 + "a" * 200
    assert ask(context(rule("deny", "write_file", pattern)), WRITE, paths=[path]).because == "mode"
