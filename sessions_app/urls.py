"""Addresses of the sessions pages; those about runs of a thread are in `runs_app.urls`."""

from __future__ import annotations

from django.urls import path

from sessions_app.views import (
    acts,
    audit,
    controls,
    exporting,
    fork,
    history,
    importing,
    permissions,
    plan,
    sessions,
    state,
)

urlpatterns = [
    path("", sessions.sessions, name="home"),
    path("sessions", sessions.sessions, name="sessions"),
    path("sessions/new", sessions.session_new, name="session_new"),
    path("sessions/import", importing.session_import, name="session_import"),
    path("threads/<uuid:thread_id>/state", state.thread_state, name="thread_state"),
    path("threads/<uuid:thread_id>/state/raw", state.state_raw, name="thread_state_raw"),
    path("threads/<uuid:thread_id>/export", exporting.thread_export, name="thread_export"),
    path(
        "threads/<uuid:thread_id>/export/file",
        exporting.thread_export_file,
        name="thread_export_file",
    ),
    path("threads/<uuid:thread_id>/facts/<int:seq>/raw", state.fact_raw, name="fact_raw"),
    path(
        "threads/<uuid:thread_id>/permissions",
        permissions.thread_permissions,
        name="thread_permissions",
    ),
    path("threads/<uuid:thread_id>/plan", plan.thread_plan, name="thread_plan"),
    path("threads/<uuid:thread_id>/history", history.thread_history, name="thread_history"),
    path(
        "threads/<uuid:thread_id>/compare",
        history.thread_compare_pick,
        name="thread_compare_pick",
    ),
    path(
        "threads/<uuid:thread_id>/compare/<int:before>..<int:after>",
        history.thread_compare,
        name="thread_compare",
    ),
    path("threads/<uuid:thread_id>/fork", fork.thread_fork, name="thread_fork"),
    path("threads/<uuid:thread_id>/audit", audit.thread_audit, name="thread_audit"),
    path("threads/<uuid:thread_id>/act/<slug:op>", acts.thread_act, name="thread_act"),
    path("controls/<uuid:control_id>", controls.control, name="control"),
    path("audit", audit.audit_list, name="audit"),
    path("audit/verify", audit.audit_verify, name="audit_verify"),
    path("audit/<uuid:entry_id>", audit.audit_entry, name="audit_entry"),
]
