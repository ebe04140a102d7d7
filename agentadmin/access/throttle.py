"""Counts sign-ins that failed, per name, per address and per both, and refuses the next too many.

An attempt is counted before its password is looked at, so that a hundred guesses sent at once
are not a hundred guesses; a success takes its own count back.
"""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from django.db.models import F

from agentadmin.access.models import SignInThrottle
from agentadmin.engine.clock import now
from agentadmin.engine.errors import RateLimited
from agentadmin.engine.state.codec import dumps

if TYPE_CHECKING:
    from datetime import datetime

WINDOW = timedelta(minutes=15)
# A name alone is limited loosely: anybody who knows it could lock its owner out.
LIMITS = {"both": 5, "name": 30, "address": 60}


def count_attempt(name: str, address: str | None) -> None:
    """Count one attempt; `RateLimited` says when the next may be made."""
    at = now()
    for scope, key in _keys(name, address).items():
        failures, since = _count(key, at)
        if failures > LIMITS[scope]:
            wait = max(1, round((since + WINDOW - at).total_seconds()))
            minutes = -(-wait // 60)
            raise RateLimited(wait, f"Too many attempts. Try again in {minutes} minutes.")


def forgive(name: str, address: str | None) -> None:
    """The password was right: these attempts were its owner's. Old counts go as well."""
    keys = _keys(name, address)
    SignInThrottle.objects.filter(key__in=[keys["both"], keys["name"]]).delete()
    SignInThrottle.objects.filter(key=keys["address"], failures__gt=0).update(
        failures=F("failures") - 1
    )
    SignInThrottle.objects.filter(since__lt=now() - WINDOW).delete()


def _count(key: str, at: datetime) -> tuple[int, datetime]:
    rows = SignInThrottle.objects.filter(key=key)
    rows.filter(since__lt=at - WINDOW).delete()
    SignInThrottle.objects.bulk_create(
        [SignInThrottle(key=key, failures=0, since=at)], ignore_conflicts=True
    )
    rows.update(failures=F("failures") + 1)
    return rows.values_list("failures", "since").first() or (1, at)


def _keys(name: str, address: str | None) -> dict[str, str]:
    folded = unicodedata.normalize("NFKC", name).casefold()
    parts: dict[str, list[str | None]] = {
        "both": [folded, address],
        "name": [folded],
        "address": [address],
    }
    return {
        scope: sha256(dumps([scope, *values]).encode("utf-8", "surrogatepass")).hexdigest()
        for scope, values in parts.items()
    }
