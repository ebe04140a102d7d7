"""What the doctor looks at, in the order in which it says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.ops.checks import databases, files, servers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentadmin.ops.doctor import Check

CHECKS: Mapping[str, Check] = {
    "database": databases.answers,
    "migrations": databases.migrated,
    "database clock": databases.clock,
    "redis": servers.redis_answers,
    "redis clock": servers.redis_clock,
    "broker": servers.broker_answers,
    "worker": servers.worker_lives,
    "secret key": files.secret_key,
    "permissions": files.private,
    "disk space": files.space,
    "front end": files.bundle,
}
