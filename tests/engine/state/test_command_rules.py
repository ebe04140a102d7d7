"""How rules, read-only checks and safety read shell commands."""

from __future__ import annotations

import pytest

from agentadmin.engine.state.permissions import ToolFacts
from tests.engine.state.asking import ask, context, rule, run


@pytest.mark.parametrize(
    "command",
    [
        "curl x",
        "curl",
        "ls; curl x",
        "ls && curl x",
        "false || curl x",
        "ls | curl -d @- x",
        "ls & curl x",
        "ls\ncurl x",
        "echo $(curl x)",
        "echo `curl x`",
        'echo "$(curl x)"',
        'echo "`curl x`"',
        "diff <(curl x) y",
        "(curl x)",
        "{ curl x; }",
        "if true; then curl x; fi",
        "while curl x; do :; done",
        "! curl x",
        "FOO=1 BAR=2 curl x",
        "sudo -u eve curl x",
        "env A=b curl x",
        "timeout 5 curl x",
        "xargs -n 1 curl",
        "find . -exec curl {} ;",
        "bash -c 'curl x'",
        "sh -ec 'ls; curl x'",
        "sudo bash -c 'curl x'",
        "eval curl x",
        'bash -c "echo \'unclosed; curl x"',
        "/usr/bin/curl x",
        "\\curl x",
        "c'ur'l x",
        'c"ur"l x',
        "cu\\\nrl x",
        "curl\tx",
        "true # fine\ncurl x",
        "2>&1 curl x",
        "echo 'unclosed; curl x",
        "cat <<EOF\ncurl x\nEOF",
        "echo $(curl x",
        "echo $(echo ')'; curl x)",
        "curl x > /dev/null",
        'echo "a\\"b"; curl x',
        'echo "\\\\"; curl x',
        "echo $(echo \\); curl x)",
        "bash -x script.sh; curl x",
    ],
)
def test_a_deny_rule_finds_its_command_wherever_the_shell_would(command: str) -> None:
    decision = run(command, rule("deny", "execute", "curl"), mode="bypass")
    assert decision.because == "deny_rule"


@pytest.mark.parametrize(
    "command",
    [
        "curly x",
        "echo curl",
        "ls curl",
        "echo 'a; curl x'",
        "echo '$(curl x)'",
        "echo # ; curl x",
        "echo a\\;curl x",
        '"c\\url" x',
        'echo "\\$(curl x)"',
        "grep -r curl .",
    ],
)
def test_a_deny_rule_keeps_to_token_boundaries(command: str) -> None:
    decision = run(command, rule("deny", "execute", "curl"), mode="bypass")
    assert decision.behavior == "allow"


def test_a_rule_of_several_words_is_a_prefix_of_words() -> None:
    deny = rule("deny", "execute", "git push")
    assert run("git push --force", deny).because == "deny_rule"
    assert run("git pushy", deny, mode="bypass").because == "bypass"
    assert run("git  push", deny).because == "deny_rule"
    for content in ("git push:*", "git push *", "'git' push"):
        assert run("git push x", rule("deny", "execute", content)).because == "deny_rule"


MAKE = rule("allow", "execute", "make")
NPM = rule("allow", "execute", "npm run")


@pytest.mark.parametrize(
    "command", ["make", "make all -j2", "make && npm run x", "make | wc -l", "make 2>&1 >/dev/null"]
)
def test_allow_rules_cover_every_part_together(command: str) -> None:
    decision = run(command, MAKE, NPM)
    assert (decision.behavior, decision.because, decision.rule) == ("allow", "allow_rule", MAKE)


@pytest.mark.parametrize(
    "command",
    [
        "maker",
        "make && npm install",
        "make $(npm install)",
        "make > out.txt",
        "make >> out.txt",
        "make >& out.txt",
        "make &> out.txt",
        "sudo make",
        "CC=evil make",
        "bash -c make",
        "make 'unclosed",
        "make \\",
        "make <<EOF\nx\nEOF",
        "make >",
        "",
        "(",
    ],
)
def test_an_allow_rule_never_covers_what_it_does_not_name(command: str) -> None:
    assert run(command, MAKE, NPM).behavior == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "cat a b | grep x | sort -u | head -3",
        "git status -s",
        "git log --oneline && git diff HEAD",
        "find . -name '*.py'",
        "echo $HOME",
        "wc -l < input",
        "ls 2>/dev/null",
        "date +%s",
        "[ -f x ]",
    ],
)
def test_a_command_of_read_only_parts_is_allowed(command: str) -> None:
    decision = run(command)
    assert (decision.behavior, decision.because) == ("allow", "read_only_command")


@pytest.mark.parametrize(
    "command",
    [
        "touch x",
        "ls && touch x",
        "cat x > y",
        "echo x > y",
        "find . -delete",
        "find . -exec touch x ;",
        "find . $FLAGS",
        "sort -o x y",
        "git checkout main",
        "git",
        "git -c core.pager=x log",
        "git diff --output=x",
        "git diff $X",
        "date -s 2020-01-01",
        "$CMD x",
        "`x` y",
        "LD_PRELOAD=x ls",
        "rg --pre x y",
        "ls 'unclosed",
        "file -C -m x",
        "tree -o x",
        "> x",
    ],
)
def test_a_command_that_may_change_something_asks(command: str) -> None:
    assert run(command).behavior == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf x",
        "rm -fr x",
        "rm -r -f x",
        "rm --recursive --force x",
        "/bin/rm -Rf x",
        "ls; rm -rf x",
        "sudo rm x",
        "dd if=a of=b",
        "mkfs.ext4 /dev/sda",
        "fdisk /dev/sda",
        "chmod 777 x",
        "chmod -R 777 x",
        "chown -R eve x",
        "kill -9 1",
        "echo x > /dev/sda",
        "cat .env",
        "cp x ~/.ssh/config",
        "tool --file=.env",
        "cat < .netrc",
        "echo x > .git/hooks/pre-commit",
        "rm -rf 'unclosed",
    ],
)
def test_a_dangerous_command_asks_even_in_bypass(command: str) -> None:
    decision = run(command, rule("allow", "execute"), mode="bypass")
    assert (decision.behavior, decision.because) == ("ask", "safety_check")


@pytest.mark.parametrize(
    "command", ["rm x", "rm -r x", "add x", "ls --format=long", "echo x > /dev/null", "chmod 755 x"]
)
def test_a_harmless_command_is_not_called_dangerous(command: str) -> None:
    assert run(command, mode="bypass").behavior == "allow"


def test_a_command_that_is_no_text_is_only_judged_by_whole_tool_rules() -> None:
    shell = ToolFacts("execute", is_command=True, matcher="command")
    for input in ({}, {"command": None}, {"command": ["rm", "-rf"]}):
        assert ask(context(MAKE), shell, input).because == "mode"
        assert ask(context(rule("allow", "execute")), shell, input).because == "allow_rule"


@pytest.mark.parametrize(
    "command",
    [
        "eval " * 500 + "ls",
        "timeout eval " * 2000 + "ls",
        " ".join(f"timeout eval {n}" for n in range(2000)),
        "xargs " * 5000,
        "( " * 20000,
        "$( " * 5000,
        "bash -c " * 3000,
    ],
)
def test_a_hostile_command_is_judged_without_end_or_crash(command: str) -> None:
    assert run(command, rule("deny", "execute", "curl")).behavior == "ask"


def test_scripts_too_many_to_follow_are_searched_word_by_word() -> None:
    command = " ; ".join(f"eval echo {n}" for n in range(300)) + " ; eval curl x"
    decision = run(command, rule("deny", "execute", "curl"), mode="bypass")
    assert decision.because == "deny_rule"
