"""A question to a person as a card: the exact call, what to read first, what may be answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentadmin.engine.state import codec
from runs_app.pages.toolless import lacks_tool
from runs_app.policies import EDIT_RULES, RESPOND
from runs_app.states import InteractionStatus
from sessions_app.journal.unreadable import UNREADABLE, column, column_list
from sessions_app.policies import may_thread
from sessions_app.templatetags.hidden import hidden_in

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from runs_app.models import Interaction

APPROVALS = frozenset({"approval", "confirmation"})
MAX_ARGUMENT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument, whole: what somebody approves is never cut."""

    name: str
    text: str

    @property
    def lines(self) -> int:
        """How many lines to expect."""
        return self.text.count("\n") + 1

    @property
    def size(self) -> int:
        """Bytes as they would be sent."""
        return len(self.text.encode("utf-8", "surrogatepass"))

    @property
    def is_long(self) -> bool:
        """Too long to read beside others: it opens on demand."""
        return self.size > MAX_ARGUMENT


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason to look twice before deciding."""

    title: str
    text: str


@dataclass(slots=True)
class Card:
    """Everything the card shows, with the draft of an answer that was refused."""

    asked: Interaction
    arguments: list[Argument]
    findings: list[Finding]
    rules: list[dict[str, Any]]
    choices: list[str]
    may_respond: bool
    may_add_rules: bool
    error: str = ""
    draft: dict[str, str] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """What element ids are made of: the question's place in its thread, never its text."""
        return f"{str(self.asked.thread_id)[-8:]}-{self.asked.seq}"

    @property
    def is_approval(self) -> bool:
        """Whether it asks for yes or no about a call."""
        return self.asked.kind in APPROVALS

    @property
    def is_open(self) -> bool:
        """Whether an answer is still wanted."""
        return self.asked.status == InteractionStatus.PENDING


def card_of(actor: Actor, asked: Interaction) -> Card:
    """The card of one question for this reader."""
    thread = asked.thread
    arguments = arguments_of(asked.input)
    rules = _list(asked.suggested_rules)
    return Card(
        asked=asked,
        arguments=arguments,
        findings=[*_of_agent(asked), *_findings(arguments)],
        rules=[rule for rule in rules if isinstance(rule, dict)],
        choices=[str(choice) for choice in _list(asked.choices)],
        may_respond=may_thread(actor, RESPOND, thread),
        may_add_rules=may_thread(actor, EDIT_RULES, thread),
    )


def arguments_of(text: str) -> list[Argument]:
    """The exact arguments, one by one; text as it is, all else as JSON."""
    given = column("input", text)
    if isinstance(given, dict) and UNREADABLE in given:
        return [Argument("input, which could not be decoded", text)]
    if not isinstance(given, dict):
        return [Argument("input", codec.pretty(given))]
    return [
        Argument(name, value if isinstance(value, str) else codec.pretty(value))
        for name, value in given.items()
    ]


def _of_agent(asked: Interaction) -> list[Finding]:
    """That an approval would fail, where the agent does not have what was called."""
    is_open = asked.status == InteractionStatus.PENDING
    if not is_open or asked.kind not in APPROVALS or not lacks_tool(asked):
        return []
    text = (
        f"{asked.thread.agent_id} has no tool {asked.tool}: if you allow the call, it fails with "
        "“Tool not found”. Deny it, or give the agent the tool first."
    )
    return [Finding("This agent has no such tool.", text)]


def findings_about(asked: Interaction) -> list[Finding]:
    """The reasons to look twice at a question."""
    return [*_of_agent(asked), *findings_of(asked.input)]


def warnings_in(text: str) -> int:
    """How many reasons there are to look twice; a very long call is only read when it is opened."""
    return len(findings_of(text)) if len(text) <= MAX_ARGUMENT else 0


def findings_of(text: str) -> list[Finding]:
    """The reasons to look twice at these arguments."""
    return list(_findings(arguments_of(text)))


def _findings(arguments: list[Argument]) -> list[Finding]:
    found = []
    for argument in arguments:
        hidden = [*hidden_in(argument.name), *hidden_in(argument.text)]
        if hidden:
            names = ", ".join(f"{name} {code}" for code, name in hidden[:8])
            count = f"{len(hidden)} hidden character{'' if len(hidden) == 1 else 's'}."
            text = f"{names} in {argument.name!r}: they change how it reads, not what runs."
            found.append(Finding(count, text))
        mixed = _mixed_letters(argument.text)
        if mixed:
            text = f"{argument.name} mixes Latin letters with look-alikes: {mixed}."
            found.append(Finding("Look-alike letters.", text))
    return found


def _mixed_letters(text: str) -> str:
    """Words of Latin letters that hold a Cyrillic or Greek one: hosts are spoofed like that."""
    words = [w for w in text[:MAX_ARGUMENT].split() if _is_mixed(w)]
    return ", ".join(word[:80] for word in words[:3])


def _is_mixed(word: str) -> bool:
    latin = any(c.isascii() and c.isalpha() for c in word)
    return latin and any("\u0370" <= c <= "\u052f" for c in word)


def _list(text: str) -> list[Any]:
    return column_list(text)
