"""The untouched documents that threads were imported from, kept beside their journals."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentadmin.engine.journal.facts import SALT_BYTES
from agentadmin.engine.state import codec
from sessions_app.models import Payload

if TYPE_CHECKING:
    from sessions_app.models import AgentThread


@dataclass(frozen=True, slots=True)
class SealedDocument:
    """A source document, its salt, and the commitment over both in hex."""

    text: str
    salt: bytes
    commit: str

    @classmethod
    def of(cls, text: str) -> SealedDocument:
        """Seal a text with a fresh salt."""
        salt = secrets.token_bytes(SALT_BYTES)
        return cls(text, salt, codec.commit_of(salt, text))

    def keep(self, thread: AgentThread) -> None:
        """Store the document under its commitment."""
        commit = bytes.fromhex(self.commit)
        Payload.objects.create(thread=thread, commit=commit, salt=self.salt, text=self.text)


def kept_document(thread: AgentThread, commit: str) -> str | None:
    """The text of a kept document; None when it was erased."""
    found = Payload.objects.filter(thread=thread, commit=bytes.fromhex(commit))
    return found.values_list("text", flat=True).first()
