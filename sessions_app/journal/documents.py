"""The untouched documents that threads were imported from, kept beside their journals."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from agentadmin.engine.journal.facts import SALT_BYTES
from agentadmin.engine.state import codec
from sessions_app.models import Payload

if TYPE_CHECKING:
    from sessions_app.models import AgentThread


def keep_document(thread: AgentThread, text: str) -> str:
    """Store a source document under its salted commitment, which is returned in hex."""
    salt = secrets.token_bytes(SALT_BYTES)
    commit = codec.commit_of(salt, text)
    Payload.objects.create(thread=thread, commit=bytes.fromhex(commit), salt=salt, text=text)
    return commit


def kept_document(thread: AgentThread, commit: str) -> str | None:
    """The text of a kept document; None when it was erased."""
    found = Payload.objects.filter(thread=thread, commit=bytes.fromhex(commit))
    return found.values_list("text", flat=True).first()
