"""Erase what entries say about a person: bodies and salts go, chain and proof stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.audit.models import AuditEntry

if TYPE_CHECKING:
    from django.db.models import Q


def erase_bodies(entries: Q, *, using: str = "default") -> int:
    """Erase the content of the entries that match; how many had any."""
    return (
        AuditEntry.objects.using(using)
        .filter(entries, body__isnull=False)
        .update(body=None, salt=None, reason=None, target_label=None)
    )
