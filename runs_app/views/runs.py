"""The Runs tab of a thread, and the page of one run."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from django.shortcuts import render
from django.views.decorators.http import require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.clock import now
from runs_app.pages.agents import stamp_of
from runs_app.pages.events import GROUPS, event_of
from runs_app.pages.timeline import timeline
from runs_app.selectors.of_turns import runs_of_turns, turn_of_run
from runs_app.selectors.runs import run_detail
from runs_app.selectors.steps import MOST, facts_of_run, newest_facts
from runs_app.selectors.turns import turn_page
from sessions_app.pages.frame import is_fragment, thread_frame, thread_page
from sessions_app.pages.steps import shown_controls
from sessions_app.selectors.recent import controls_of_run
from sessions_app.selectors.threads import thread_detail
from sessions_app.services.sessions import note_read
from sessions_app.views.state import number

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from runs_app.models import Run, Turn


@requires(READ)
@require_safe
def thread_runs(request: HttpRequest, thread_id: str) -> HttpResponse:
    """The turns of a thread, newest first, each with its runs."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id)
    cursor = request.GET.get("cursor")
    page = turn_page(thread, cursor=cursor)
    runs: dict[str | None, list[Run]] = defaultdict(list)
    for run in runs_of_turns(thread, [turn.id for turn in page.items]):
        runs[run.turn_id].append(run)
    context = {
        "rows": [(turn, runs[turn.id]) for turn in page.items],
        "older_url": f"?cursor={page.next_cursor}" if page.next_cursor else "",
        "newer_url": "?" if cursor else "",
    }
    return thread_page(request, thread, "runs", "runs/turns.html", **context)


@requires(READ)
@require_safe
def run_page(request: HttpRequest, run_id: str) -> HttpResponse:
    """One run: first error, timeline, controls, events."""
    actor = actor_from_request(request)
    run = run_detail(actor, run_id)
    note_read(actor, run.thread, "run")
    show = request.GET.get("show", "all")
    context = thread_frame(actor, run.thread, "runs") | _run(run, number(request, "before"), show)
    pieces = is_fragment(request) and "after_seq" in request.GET
    template = "runs/run_news.html" if pieces else "runs/run.html"
    return render(request, template, context)


def _run(run: Run, before: int | None, show: str) -> dict[str, Any]:
    facts = facts_of_run(run)
    end = run.ended_at or now()
    events, older = newest_facts(run, before, GROUPS.get(show, ()))
    turn: Turn | None = turn_of_run(run)
    return {
        "run": run,
        "turn": turn,
        "stamp": stamp_of(run),
        "took": (end - run.started_at).total_seconds(),
        "timeline": timeline(facts, end, is_cut=len(facts) == MOST),
        "events": [event_of(fact) for fact in events],
        "older_url": f"?show={quote(show)}&before={older}#events" if older else "",
        "show": show,
        "groups": list(GROUPS),
        "is_newest": before is None,
        "run_controls": shown_controls(controls_of_run(run.thread, run.id)),
    }
