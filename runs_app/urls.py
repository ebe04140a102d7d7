"""Addresses of the pages about turns, runs and questions."""

from __future__ import annotations

from django.urls import path

from runs_app.views import (
    agents,
    allowing,
    approvals,
    commands,
    conversation,
    help,
    jobs,
    runs,
    turns,
)

urlpatterns = [
    path("sessions/<uuid:session_id>", conversation.session_page, name="session"),
    path("threads/<uuid:thread_id>", conversation.thread_home, name="thread"),
    path(
        "threads/<uuid:thread_id>/conversation",
        conversation.thread_conversation,
        name="thread_conversation",
    ),
    path("threads/<uuid:thread_id>/runs", runs.thread_runs, name="thread_runs"),
    path("threads/<uuid:thread_id>/messages", commands.thread_message, name="thread_message"),
    path("threads/<uuid:thread_id>/interrupt", commands.thread_interrupt, name="thread_interrupt"),
    path("threads/<uuid:thread_id>/reconcile", commands.thread_reconcile, name="thread_reconcile"),
    path("turns", turns.turns, name="turns"),
    path("turns/<path:turn_id>/pause", turns.turn_pause, name="turn_pause"),
    path("turns/<path:turn_id>/resume", turns.turn_resume, name="turn_resume"),
    path("turns/<path:turn_id>/steer", turns.turn_steer, name="turn_steer"),
    path("turns/<path:turn_id>/cancel", commands.turn_cancel, name="turn_cancel"),
    path("sessions/<uuid:session_id>/erase", jobs.session_erase, name="session_erase"),
    path("jobs", jobs.jobs, name="jobs"),
    path("jobs/<uuid:job_id>", jobs.job, name="job"),
    path("jobs/<uuid:job_id>/stop", jobs.job_stop, name="job_stop"),
    path("runs/<path:run_id>", runs.run_page, name="run"),
    path("help", help.help_page, name="help"),
    path("agents", agents.agents, name="agents"),
    path("new-agent", agents.agent_new, name="agent_new"),
    path("agents/<path:agent_id>/edit", agents.agent_edit, name="agent_edit"),
    path("agents/<path:agent_id>/retire", agents.agent_retire, name="agent_retire"),
    # Ids of agents are any text, so the bare address comes last.
    path("agents/<path:agent_id>", agents.agent, name="agent"),
    path("approvals", approvals.approvals, name="approvals"),
    path("inbox/count", approvals.inbox_count, name="inbox_count"),
    path("approvals/<path:interaction_id>/respond", approvals.respond, name="respond"),
    path("approvals/<path:interaction_id>/allow-rule", allowing.allow_rule, name="allow_rule"),
    path("approvals/<path:interaction_id>/allow-once", allowing.allow_once, name="allow_once"),
    path("approvals/<path:interaction_id>/edit", allowing.allow_edited, name="allow_edited"),
    # Ids of imported questions are any text, so the bare address comes last.
    path("approvals/<path:interaction_id>", approvals.approval, name="approval"),
]
