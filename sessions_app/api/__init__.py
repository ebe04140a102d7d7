"""The JSON doors: `routers` lists what `agentadmin.api` mounts, each with its tag."""

from __future__ import annotations

from ninja import Router

from sessions_app.api.sessions import sessions_router
from sessions_app.api.threads import threads_router
from sessions_app.api.versions import versions_router

routers: tuple[tuple[Router, str], ...] = (
    (sessions_router, "sessions"),
    (threads_router, "threads"),
    (versions_router, "versions"),
)
