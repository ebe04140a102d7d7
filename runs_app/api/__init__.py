"""The JSON doors: `routers` lists what `agentadmin.api` mounts, each with its tag."""

from __future__ import annotations

from ninja import Router

from runs_app.api.agents import agents_router
from runs_app.api.demo import demo_router
from runs_app.api.interactions import interactions_router
from runs_app.api.jobs import jobs_router
from runs_app.api.live import live_router
from runs_app.api.runs import runs_router
from runs_app.api.turns import turns_router

routers: tuple[tuple[Router, str], ...] = (
    (turns_router, "turns"),
    (runs_router, "runs"),
    (interactions_router, "interactions"),
    (agents_router, "agents"),
    (jobs_router, "jobs"),
    (demo_router, "demo"),
    (live_router, "live"),
)
