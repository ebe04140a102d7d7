"""What a state keeps about tools: cache limits, active groups, spawned agents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from agentadmin.engine.state.reading import Raw, Reader

_FIELDS = frozenset({"max_cache_files", "max_cache_bytes", "activated_groups", "spawn_registry"})


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The tools' part of a state; `max_cache_bytes` really counts kilobytes."""

    max_cache_files: int = 100
    max_cache_bytes: float = 25000.0
    activated_groups: tuple[str, ...] = ()
    spawn_registry: dict[str, Raw] = field(default_factory=dict)
    extra: Raw = field(default_factory=dict)

    @classmethod
    def from_dict(cls, raw: Any, path: str = "tool_context") -> Self:
        reader = Reader(raw, path)
        files = reader.integer("max_cache_files", 100)
        if files <= 1:
            raise reader.refuse("max_cache_files", "must be greater than 1")
        size = reader.number("max_cache_bytes", 25000.0)
        if not size > 10000:
            raise reader.refuse("max_cache_bytes", "must be greater than 10000")
        registry = Reader(reader.object("spawn_registry"), reader.at("spawn_registry"))
        for key in registry.raw:
            registry.object(key)
        return cls(
            max_cache_files=files,
            max_cache_bytes=size,
            activated_groups=reader.texts("activated_groups"),
            spawn_registry=registry.raw,
            extra=reader.rest(_FIELDS),
        )

    def to_dict(self) -> Raw:
        return {
            "max_cache_files": self.max_cache_files,
            "max_cache_bytes": self.max_cache_bytes,
            "activated_groups": list(self.activated_groups),
            "spawn_registry": self.spawn_registry,
        } | self.extra
