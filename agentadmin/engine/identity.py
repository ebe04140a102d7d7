"""Identity of sessions and threads: opaque ids, hashed without ambiguity."""

from __future__ import annotations

import os
import time
import unicodedata
import uuid
from dataclasses import dataclass
from urllib.parse import quote

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state import codec

MAIN_THREAD = "main"
MAX_ID_LENGTH = 256
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class SessionKey:
    """One conversation; an anonymous one has no user id, which is no name."""

    namespace: str
    user_id: str | None
    session_id: str

    def identity_hash(self) -> str:
        return codec.sha256(codec.dumps([self.namespace, self.user_id, self.session_id]))


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """One agent's continuing context in a session."""

    namespace: str
    user_id: str | None
    session_id: str
    agent_id: str
    thread_id: str = MAIN_THREAD

    @property
    def session(self) -> SessionKey:
        return SessionKey(self.namespace, self.user_id, self.session_id)

    def identity_hash(self) -> str:
        return codec.sha256(
            codec.dumps(
                [self.namespace, self.user_id, self.session_id, self.agent_id, self.thread_id]
            )
        )

    def state_entry(self, name: str) -> str:
        """The key of a store entry that belongs to this agent's thread; injective."""
        parts = (self.agent_id, self.thread_id, name)
        return "/".join(quote(part, safe="") for part in parts)


def check_id(value: str, field: str) -> str:
    """Returns the id as it came; refuses what nobody could see or type."""
    if not isinstance(value, str):
        raise InvalidInput("must be text", path=field)
    if not value.strip():
        raise InvalidInput("must not be blank", path=field)
    if len(value) > MAX_ID_LENGTH:
        raise InvalidInput(f"has more than {MAX_ID_LENGTH} characters", path=field)
    if any(map(_is_unprintable, value)):
        raise InvalidInput("holds unprintable characters", path=field)
    return value


def _is_unprintable(character: str) -> bool:
    # Other spaces than the ASCII one are seen; joiners hold scripts and emoji together.
    if character.isprintable() or character in _JOINERS:
        return False
    return unicodedata.category(character) != "Zs"


def new_id() -> str:
    """A UUIDv7: ids that sort by the time of their making."""
    milliseconds = time.time_ns() // 1_000_000
    bits = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | int.from_bytes(os.urandom(10))
    bits = bits & ~(0xF << 76) | 0x7 << 76
    bits = bits & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=bits))


def new_hex() -> str:
    """32 lower-case hexadecimal digits, AgentScope's form of a random id."""
    return uuid.uuid4().hex
