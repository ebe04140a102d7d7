"""`seed_demo`: once, a few sessions to look at, made by running the offline model for real."""

from __future__ import annotations

import time
from threading import Thread
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from django.db import connections

from agentadmin.access.actor import Actor
from agentadmin.command import PlainCommand
from agentadmin.trace import start_trace
from runs_app.demo_sessions import SESSIONS, DemoSession, Ending
from runs_app.dispatch import keeping_work_here
from runs_app.executor import execute
from runs_app.keeper import Keeper
from runs_app.profiles import DEMO
from runs_app.selectors.interactions import open_interactions
from runs_app.services.interrupt import interrupt_session
from runs_app.services.respond import respond_interaction
from runs_app.services.submit import submit_turn
from sessions_app.models import AgentSession, AgentThread
from sessions_app.services.sessions import NewSession, create_session
from sessions_app.services.update_state import update_agent_state

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

PATIENCE = 20.0
STREAM_FOR = 0.8
"""Seconds that the interrupted answer may go on, so that there is something to see."""


class Command(PlainCommand):
    """Fills an empty installation; one that has sessions is left alone."""

    help = "Make a few demo sessions, once: nothing happens where there are sessions."
    example = "manage.py seed_demo"

    def add_arguments(self, parser: CommandParser) -> None:
        """Nothing but what every command has."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Run every conversation of the demo."""
        if AgentSession.objects.exists():
            self.stdout.write("There is nothing to seed.")
            return
        keeper = Keeper("seed_demo")
        keeper.start()
        try:
            with keeping_work_here():
                for demo in SESSIONS:
                    Seeding(demo, keeper).run()
        finally:
            keeper.close()
        self.stdout.write(f"{len(SESSIONS)} demo sessions are there.")


class Seeding:
    """One session, from its creation to its ending."""

    def __init__(self, demo: DemoSession, keeper: Keeper) -> None:
        self._demo = demo
        self._keeper = keeper
        self._actor = Actor.system("seed_demo", trace_id=start_trace())
        new = NewSession(agent_id=DEMO, user_id=demo.user_id, session_id=demo.session_id)
        session = create_session(actor=self._actor, new=new)
        self._thread = AgentThread.objects.select_related("session").get(session=session)

    def run(self) -> None:
        """Say everything, answer what is to be answered, change what is to be changed."""
        *most, last = self._demo.messages
        for text in most:
            self._say(text)
        if self._demo.ending is Ending.INTERRUPTED:
            self._say_and_interrupt(last)
        else:
            self._say(last)
        if self._demo.operations:
            update_agent_state(
                actor=self._actor,
                thread=AgentThread.objects.select_related("session").get(id=self._thread.id),
                reason=self._demo.reason,
                operations=list(self._demo.operations),
            )

    def _say(self, text: str) -> None:
        submit_turn(actor=self._actor, thread=self._thread, input=text)
        self._execute()
        for asked in open_interactions(self._thread) if self._demo.approve else ():
            respond_interaction(
                actor=self._actor,
                interaction_id=asked.id,
                decision="approve",
                call_hash=asked.call_hash,
            )
            self._execute()

    def _execute(self) -> None:
        async_to_sync(execute)(str(self._thread.id), self._keeper)

    def _say_and_interrupt(self, text: str) -> None:
        """The run needs a thread of its own while this one interrupts it."""
        submit_turn(actor=self._actor, thread=self._thread, input=text)
        runner = Thread(target=self._execute_alone)
        runner.start()
        self._wait_for_run()
        time.sleep(STREAM_FOR)
        interrupt_session(
            actor=self._actor,
            session=self._thread.session,
            reason="The report would be wrong without last week's numbers.",
            message=self._demo.said,
        )
        runner.join(PATIENCE)

    def _execute_alone(self) -> None:
        try:
            with keeping_work_here():
                self._execute()
        finally:
            connections.close_all()

    def _wait_for_run(self) -> None:
        deadline = time.monotonic() + PATIENCE
        rows = AgentThread.objects.filter(id=self._thread.id, active_run_id__isnull=False)
        while not rows.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
