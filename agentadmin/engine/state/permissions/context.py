"""The permission context of a state: its mode, its working directories and its rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state.permissions.vocabulary import Behavior, PermissionMode
from agentadmin.engine.state.reading import Raw, Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    Rules = dict[str, tuple["PermissionRule", ...]]

_RULE_FIELDS = frozenset({"tool_name", "rule_content", "behavior", "source", "expires_at"})
_TABLES = {
    Behavior.ALLOW: "allow_rules",
    Behavior.DENY: "deny_rules",
    Behavior.ASK: "ask_rules",
}
_CONTEXT_FIELDS = frozenset({"mode", "working_directories", *_TABLES.values()})


class RuleKey(NamedTuple):
    """What tells two rules apart; without a source it means that rule of any source."""

    behavior: Behavior
    tool_name: str
    rule_content: str | None = None
    source: str | None = None

    def __str__(self) -> str:
        content = f" {self.rule_content!r}" if self.rule_content else ""
        return f"{self.behavior} {self.tool_name}{content}"


@dataclass(frozen=True, slots=True)
class PermissionRule:
    """One rule about one tool; null or empty content means every call of it."""

    tool_name: str
    rule_content: str | None
    behavior: Behavior
    source: str
    expires_at: str | None = None
    """ISO time with a zone, as it came; the rule does not count from then on."""
    extra: Raw = field(default_factory=dict)

    @classmethod
    def from_reader(cls, reader: Reader) -> Self:
        behavior = reader.word("behavior", Behavior)
        if behavior is None:
            raise reader.refuse("behavior", "is missing")
        expires_at = reader.text("expires_at")
        if expires_at is not None and _moment(expires_at) is None:
            raise reader.refuse("expires_at", "must be an ISO time with a zone")
        return cls(
            tool_name=reader.required_text("tool_name"),
            rule_content=reader.text("rule_content"),
            behavior=behavior,
            source=reader.required_text("source"),
            expires_at=expires_at,
            extra=reader.rest(_RULE_FIELDS),
        )

    @classmethod
    def from_dict(cls, raw: Any, path: str = "") -> Self:
        return cls.from_reader(Reader(raw, path))

    def to_dict(self) -> Raw:
        raw: Raw = {
            "tool_name": self.tool_name,
            "rule_content": self.rule_content,
            "behavior": self.behavior.value,
            "source": self.source,
        }
        if self.expires_at is not None:
            raw["expires_at"] = self.expires_at
        return raw | self.extra

    @property
    def key(self) -> RuleKey:
        return RuleKey(self.behavior, self.tool_name, self.rule_content or None, self.source)

    @property
    def expires(self) -> datetime | None:
        return None if self.expires_at is None else _moment(self.expires_at)

    def expired(self, now: datetime) -> bool:
        moment = self.expires
        return moment is not None and moment <= now


@dataclass(frozen=True, slots=True)
class WorkingDirectory:
    """A directory in which `accept_edits` accepts file edits."""

    path: str
    source: str | None
    extra: Raw = field(default_factory=dict)

    @classmethod
    def from_dict(cls, raw: Any, path: str) -> Self:
        reader = Reader(raw, path)
        extra = reader.rest(("path", "source"))
        return cls(reader.required_text("path"), reader.text("source"), extra)

    def to_dict(self) -> Raw:
        return {"path": self.path, "source": self.source} | self.extra


@dataclass(frozen=True, slots=True)
class PermissionContext:
    """Everything that decides about calls. The table decides a rule's effect, the key its tool."""

    mode: PermissionMode = PermissionMode.DEFAULT
    working_directories: dict[str, WorkingDirectory] = field(default_factory=dict)
    allow_rules: Rules = field(default_factory=dict)
    deny_rules: Rules = field(default_factory=dict)
    ask_rules: Rules = field(default_factory=dict)
    extra: Raw = field(default_factory=dict)

    @classmethod
    def from_dict(cls, raw: Any, path: str = "permission_context") -> Self:
        reader = Reader(raw, path)
        directories = reader.object("working_directories")
        return cls(
            mode=reader.word("mode", PermissionMode) or PermissionMode.DEFAULT,
            working_directories={
                key: WorkingDirectory.from_dict(value, f'{path}.working_directories["{key}"]')
                for key, value in directories.items()
            },
            allow_rules=_rules(reader, "allow_rules"),
            deny_rules=_rules(reader, "deny_rules"),
            ask_rules=_rules(reader, "ask_rules"),
            extra=reader.rest(_CONTEXT_FIELDS),
        )

    def to_dict(self) -> Raw:
        raw: Raw = {
            "mode": self.mode.value,
            "working_directories": {k: v.to_dict() for k, v in self.working_directories.items()},
        }
        for behavior, name in _TABLES.items():
            table = self.table(behavior)
            raw[name] = {tool: [rule.to_dict() for rule in rules] for tool, rules in table.items()}
        return raw | self.extra

    def table(self, behavior: Behavior) -> Rules:
        """The rules with one effect; nothing is filed under `passthrough`."""
        name = _TABLES.get(behavior)
        if name is None:
            raise InvalidInput("a rule must allow, deny or ask", path="behavior")
        rules: Rules = getattr(self, name)
        return rules

    def rules(self) -> Iterator[tuple[Behavior, str, PermissionRule]]:
        """Every rule with the effect and the tool that it has by its place."""
        for behavior in _TABLES:
            for tool, rules in self.table(behavior).items():
                for rule in rules:
                    yield behavior, tool, rule

    def with_mode(self, mode: PermissionMode) -> PermissionContext:
        return self if mode is self.mode else replace(self, mode=mode)

    def with_rule(self, rule: PermissionRule) -> PermissionContext:
        """With this rule; one of the same key is not doubled, only its expiry replaced."""
        rules = self.table(rule.behavior).get(rule.tool_name, ())
        places = [index for index, old in enumerate(rules) if old.key == rule.key]
        if not places:
            return self._with_rules(rule.behavior, rule.tool_name, (*rules, rule))
        first = places[0]
        if rules[first].expires_at == rule.expires_at:
            return self
        changed = replace(rules[first], expires_at=rule.expires_at)
        return self._with_rules(
            rule.behavior, rule.tool_name, (*rules[:first], changed, *rules[first + 1 :])
        )

    def without_rule(self, key: RuleKey) -> PermissionContext:
        """Without the rules that the key means; itself when there is none."""
        rules = self.table(key.behavior).get(key.tool_name, ())
        kept = tuple(rule for rule in rules if not _means(key, rule))
        return self if len(kept) == len(rules) else self._with_rules(*key[:2], kept)

    def _with_rules(
        self, behavior: Behavior, tool: str, rules: tuple[PermissionRule, ...]
    ) -> PermissionContext:
        table = {**self.table(behavior), tool: rules}
        if not rules:
            del table[tool]
        changed: dict[str, Any] = {_TABLES[behavior]: table}
        return replace(self, **changed)


def _means(key: RuleKey, rule: PermissionRule) -> bool:
    same_content = (rule.rule_content or None) == (key.rule_content or None)
    return same_content and key.source in (None, rule.source)


def _rules(reader: Reader, field: str) -> Rules:
    tables = Reader(reader.object(field), reader.at(field))
    return {
        tool: tuple(PermissionRule.from_reader(rule) for rule in tables.children(tool))
        for tool in tables.raw
    }


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
