"""The executor: claims a thread, works off its queue, gives the lease back (design §6).

Rows are the truth. A message only says where to look; whoever finds nothing to claim leaves.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.conf import settings

from agentadmin.engine.agents.interrupt import InterruptControl, InterruptSource
from agentadmin.engine.errors import Fenced, TurnFinished, TurnPaused
from agentadmin.engine.journal.base import Lease
from agentadmin.engine.journal.loading import adopt, load, refresh
from agentadmin.engine.journal.writer import JournalWriter
from agentadmin.engine.runtime_context import RuntimeContext
from agentadmin.engine.tools.builtin import OrderBook
from agentadmin.logs import bound
from runs_app import claims
from runs_app.admitting import Head, Work, read_head
from runs_app.demo_tools import DemoOrderBook
from runs_app.desk import Desk, DeskJournal
from runs_app.dispatch import dispatch
from runs_app.failing import park_undefined, record_failure, record_poison
from runs_app.host import DurableHost
from runs_app.keeper import KEEPER, Keeper
from runs_app.mail import settle_mail
from runs_app.metering import RunMeter
from runs_app.pinning import profile_for
from runs_app.states import TERMINAL, TurnState
from runs_app.stream import Publisher
from sessions_app import mailbox
from sessions_app.journal import ProjectionCache
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentThread

if TYPE_CHECKING:
    from agentadmin.engine.agents.run import Execution
    from agentadmin.engine.journal.base import ThreadRef
    from agentadmin.engine.journal.projection import ThreadProjection
    from runs_app.models import Turn
    from runs_app.profiles import Profile

log = logging.getLogger(__name__)

TURNS_PER_TASK = 10
"""After so many turns of one thread the others get a chance."""
CACHE = ProjectionCache()


async def execute(thread_id: str, keeper: Keeper = KEEPER) -> None:
    """Do what there is to do on a thread; the task's whole body."""
    if keeper.stopping:
        return
    epoch = await sync_to_async(claims.claim_workable)(
        thread_id, keeper.name, settings.LEASE.seconds
    )
    if epoch is None:
        return
    ref = await sync_to_async(_ref)(thread_id)
    desk = Desk(ref, Lease(keeper.name, epoch))
    with keeper.holding(desk):
        worker = ThreadWorker(desk, keeper)
        try:
            await worker.drain()
        except Fenced:
            log.warning("thread %s has gone to another worker", thread_id)
        except BaseException:
            # Nobody is sent here again at once; the sweep tries after its grace.
            await worker.give_back()
            raise
        else:
            await worker.leave()


def _ref(thread_id: str) -> ThreadRef:
    return thread_ref(AgentThread.objects.select_related("session").get(id=thread_id))


class ThreadWorker:
    """Works on one held thread until it is idle, parked, or somebody else's turn."""

    def __init__(self, desk: Desk, keeper: Keeper) -> None:
        self._desk = desk
        self._keeper = keeper
        self._journal = DeskJournal(desk)
        self._projection: ThreadProjection | None = None
        self._held = True

    @property
    def _id(self) -> str:
        return self._desk.ref.id

    async def drain(self) -> None:
        """Turn after turn, controls in between."""
        for _ in range(TURNS_PER_TASK):
            await self._read_mail()
            head = await sync_to_async(read_head)(self._id)
            if head.work is Work.RUN and head.turn is not None and not self._keeper.stopping:
                await self._work(head, head.turn)
            elif await sync_to_async(claims.release_idle)(self._id, self._desk.lease.epoch):
                self._held = False
            elif self._keeper.stopping:
                return
            if not self._held:
                return

    async def leave(self) -> None:
        """Give back what is still held, and have somebody go on."""
        if await self.give_back() and not self._keeper.stopping:
            await sync_to_async(dispatch)(self._id)

    async def give_back(self) -> bool:
        """Release the lease if it is still held."""
        if not self._held:
            return False
        self._held = False
        return await sync_to_async(claims.release)(self._id, self._desk.lease.epoch)

    # --- Mail -----------------------------------------------------------------------------------

    async def _read_mail(self) -> None:
        """Between runs: edits are applied, parked turns cancelled, late stops refused."""
        controls = await sync_to_async(mailbox.open_controls)([self._id])
        self._desk.receive(controls)
        if controls:
            await settle_mail(self._desk, await self._writer())

    # --- State ----------------------------------------------------------------------------------

    async def _writer(self) -> JournalWriter:
        projection = await self._current()
        return JournalWriter(
            self._journal, projection, lease=self._desk.lease, actor=self._keeper.name
        )

    async def _current(self) -> ThreadProjection:
        """The newest projection; while this worker holds the lease only queue commits are new."""
        if self._projection is None:
            self._projection = await self._loaded()
        else:
            await refresh(self._journal, self._projection)
        return self._projection

    async def _loaded(self) -> ThreadProjection:
        known = CACHE.take(self._id)
        if known is not None:
            head = await self._journal.head(self._desk.ref)
            if head.version == known.version:
                await refresh(self._journal, known)
                return known
        return await load(self._journal, self._desk.ref)

    # --- Runs -----------------------------------------------------------------------------------

    async def _work(self, head: Head, turn: Turn) -> None:
        """One run of the head turn, or the reason why there is none."""
        try:
            writer = await self._writer()
            await adopt(self._journal, writer.projection, head.inputs)
            profile = await sync_to_async(profile_for)(turn, head.thread.agent_id)
        except Fenced:
            raise
        except Exception as error:
            # Unreadable state or an agent that cannot be built: the turn fails with the reason.
            log.exception("thread %s cannot be run", self._id)
            await sync_to_async(record_failure)(head, turn, error)
            return
        if profile is None:
            await park_undefined(writer, head, turn)
        elif head.is_poison:
            await record_poison(writer, head, turn)
        else:
            await self._run(head, turn, writer, profile)

    async def _run(self, head: Head, turn: Turn, writer: JournalWriter, profile: Profile) -> None:
        control = InterruptControl()
        publisher = Publisher(self._desk.ref, holds=lambda: not self._desk.fenced)
        admission = head.admission(turn, writer.projection, self._keeper.name, profile.stamp)
        ctx = RuntimeContext.empty()
        ctx.put(OrderBook, DemoOrderBook(self._id))
        meter = RunMeter(head.thread.agent_id, takeover=head.lost_run is not None)
        execution = profile.agent.prepare_turn(
            admission,
            writer=writer,
            control=control,
            host=DurableHost(self._desk, publisher, meter),
            ctx=ctx,
        )
        run_ids = {execution.run_id} | ({head.lost_run} if head.lost_run else set())
        self._desk.begin(control, turn.id, run_ids)
        if self._keeper.stopping:
            self._desk.stop(InterruptSource.SYSTEM)
        try:
            with bound(turn_id=turn.id, run_id=execution.run_id):
                await self._bounded(execution, control, turn, meter)
        finally:
            self._desk.end()
            await publisher.aclose()

    async def _bounded(
        self, execution: Execution, control: InterruptControl, turn: Turn, meter: RunMeter
    ) -> None:
        """Run to the end, the deadline, or a stop; keep the projection if all went well."""
        deadline = asyncio.get_running_loop().call_later(
            settings.RUN_DEADLINE, lambda: control.trigger(reason="the run's deadline has passed")
        )
        heard = asyncio.create_task(self._acknowledge(control))
        self._projection = None
        try:
            result = await execution.run()
        except (TurnFinished, TurnPaused):
            if await self._was_withdrawn(turn):
                return
            raise
        finally:
            deadline.cancel()
            heard.cancel()
            await asyncio.wait({heard})
        meter.ended(result.status)
        self._held = not result.released
        projection = execution.log.writer.projection if execution.log.writer else None
        if projection is not None:
            if self._held:
                self._projection = projection
            else:
                CACHE.put(projection)

    async def _acknowledge(self, control: InterruptControl) -> None:
        """Note in the mailbox that the run has heard what stops it."""
        await control.wait()
        for request in self._desk.stops:
            await sync_to_async(mailbox.acknowledge)(request.id)

    async def _was_withdrawn(self, turn: Turn) -> bool:
        """Whether the turn was cancelled or paused in the moment in which it was to begin."""
        await sync_to_async(turn.refresh_from_db)(fields=["state"])
        return turn.state in TERMINAL or turn.state == TurnState.PAUSED
