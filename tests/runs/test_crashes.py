"""Design §9.6: whatever commit a worker dies around, every turn ends once or waits for a decision.

A crash is simulated where it hurts: from some commit on, nothing that the worker does reaches the
database any more, neither commits nor the return of the lease.
"""

from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import transaction
from django.db.models import F

from agentadmin.access.actor import Actor
from runs_app import claims, executor
from runs_app.desk import DeskJournal
from runs_app.executor import CACHE, execute
from runs_app.keeper import Keeper
from runs_app.models import DemoOrder
from runs_app.recorder import folded
from runs_app.selectors.interactions import open_interactions
from runs_app.services.cancel import cancel_turn
from runs_app.services.interrupt import interrupt_session
from runs_app.services.reconcile import reconcile_tools
from runs_app.services.respond import respond_interaction
from runs_app.services.submit import submit_turn
from sessions_app.models import AgentThread, ControlRequest, JournalFact
from tests.runs.conftest import turn_of

pytestmark = pytest.mark.django_db(transaction=True)

SCENARIOS = {
    "echo": "/echo hello",
    "calculate": '/tool calculator {"expression": "6 * 7"}',
    "order": '/tool create_order {"sku": "tea"}',
    "parallel": (
        '/tools [{"name": "create_order", "input": {"sku": "a"}},'
        ' {"name": "calculator", "input": {"expression": "1"}},'
        ' {"name": "create_order", "input": {"sku": "b"}}]'
    ),
    "fails": "/fail permanent",
}
MOST_COMMITS = 12


class Killed(BaseException):
    """The process is gone."""


class Bomb:
    """Goes off around the n-th commit, or that of a fact; nothing gets through afterwards."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int | str, *, before: bool) -> None:
        self.at, self.before, self.commits = at, before, 0
        self.exploded = False
        self._commit = DeskJournal.commit_now
        self._release, self._release_idle = claims.release, claims.release_idle
        bomb = self

        def commit_now(journal: DeskJournal, *args: Any) -> Any:
            return bomb.commit(journal, *args)

        monkeypatch.setattr(DeskJournal, "commit_now", commit_now)
        monkeypatch.setattr(executor.claims, "release", self.release)
        monkeypatch.setattr(executor.claims, "release_idle", self.release_idle)

    def commit(self, journal: Any, *args: Any) -> Any:
        if self.exploded:
            raise Killed
        self.commits += 1
        if self.at == self.commits or self.at in {fact.type for fact in args[1].facts}:
            self.exploded = True
            if self.before:
                raise Killed
            self._commit(journal, *args)
            raise Killed
        return self._commit(journal, *args)

    def release(self, thread_id: str, epoch: int) -> bool:
        return False if self.exploded else self._release(thread_id, epoch)

    def release_idle(self, thread_id: str, epoch: int) -> bool:
        return False if self.exploded else self._release_idle(thread_id, epoch)


def bury(thread: AgentThread) -> None:
    """The dead worker's lease runs out, and its memory is gone.

    The keeper of these tests outlives its worker: with another epoch a renewal that is under way
    finds nothing to renew.
    """
    CACHE._held.clear()
    AgentThread.objects.filter(id=thread.id, lease_until__isnull=False).update(
        lease_until="2020-01-01T00:00Z", lease_epoch=F("lease_epoch") + 1
    )


def go_on(thread: AgentThread, actor: Actor, keeper: Keeper) -> None:
    """Healthy workers and a person who approves, until nothing moves."""
    for _ in range(6):
        async_to_sync(execute)(str(thread.id), keeper)
        for asked in open_interactions(thread):
            respond_interaction(
                actor=actor,
                interaction_id=asked.id,
                decision="approve",
                call_hash=asked.call_hash,
            )


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_turn_survives_a_crash_at_any_commit(
    name: str, before: bool, actor: Actor, keeper: Keeper
) -> None:
    from tests.runs.conftest import new_thread

    for at in range(1, MOST_COMMITS):
        thread = new_thread(actor)
        turn = submit_turn(actor=actor, thread=thread, input=SCENARIOS[name])
        with pytest.MonkeyPatch.context() as patch:
            bomb = Bomb(patch, at, before=before)
            with suppress(Killed):
                go_on(thread, actor, keeper)
        if bomb.exploded:
            # However the death came out of the loop: this worker's lease runs out.
            bury(thread)
        go_on(thread, actor, keeper)
        check(thread, turn.turn_id or "")
        if not bomb.exploded:
            return
    pytest.fail(f"{name} takes more than {MOST_COMMITS} commits")


def die_while_ordering(thread: AgentThread, actor: Actor, keeper: Keeper) -> str:
    """The order was sent, and its worker never said what came of it."""
    turn = submit_turn(actor=actor, thread=thread, input=SCENARIOS["order"])
    with pytest.MonkeyPatch.context() as patch:
        Bomb(patch, "tool/result", before=True)
        with pytest.raises(Killed):
            go_on(thread, actor, keeper)
    bury(thread)
    assert DemoOrder.objects.filter(thread=thread).exists()
    return turn.turn_id or ""


def test_a_dead_worker_is_interrupted_and_what_it_did_is_told_later(
    thread: AgentThread, actor: Actor, keeper: Keeper
) -> None:
    turn_id = die_while_ordering(thread, actor, keeper)
    receipt = interrupt_session(actor=actor, session=thread.session, reason="it hangs")
    go_on(thread, actor, keeper)
    turn = turn_of(turn_id)
    assert (turn.state, turn.wait_kind) == ("waiting", "reconcile")
    assert ControlRequest.objects.get(id=receipt.control_id).state == "effective"
    call_id = DemoOrder.objects.get().call_id
    reconcile_tools(
        actor=actor, thread=thread, results={call_id: {"output": "it is there"}}, reason="asked"
    )
    go_on(thread, actor, keeper)
    assert turn_of(turn_id).outcome == "interrupted"


def test_a_dead_workers_order_stays_unknown_when_its_turn_is_cancelled(
    thread: AgentThread, actor: Actor, keeper: Keeper
) -> None:
    turn_id = die_while_ordering(thread, actor, keeper)
    receipt = cancel_turn(actor=actor, turn_id=turn_id, reason="it hangs")
    assert receipt.state == "cancelling"
    go_on(thread, actor, keeper)
    assert turn_of(turn_id).state == "cancelled"
    assert ControlRequest.objects.get(id=receipt.control_id).state == "effective"
    assert DemoOrder.objects.get().times_asked == 1


def test_a_turn_that_kills_its_workers_is_given_up(
    thread: AgentThread, actor: Actor, keeper: Keeper
) -> None:
    turn = submit_turn(actor=actor, thread=thread, input="/echo hi")
    for _ in range(5):
        with pytest.MonkeyPatch.context() as patch:
            Bomb(patch, 1, before=False)
            with pytest.raises(Killed):
                go_on(thread, actor, keeper)
        bury(thread)
    go_on(thread, actor, keeper)
    assert (turn_of(turn.turn_id).state, turn_of(turn.turn_id).outcome) == ("failed", "poison")


def check(thread: AgentThread, turn_id: str) -> None:
    """One ending or a named wait; no effect twice; rows and seqs as they should be."""
    turn = turn_of(turn_id)
    ends = JournalFact.objects.filter(
        thread=thread, type__in=["turn/completed", "turn/failed", "turn/cancelled"]
    )
    if turn.state == "waiting":
        assert turn.wait_kind == "reconcile"
        assert not ends.exists()
    else:
        assert turn.state in {"completed", "failed"}
        assert ends.count() == 1
    assert all(order.times_asked == 1 for order in DemoOrder.objects.filter(thread=thread))
    skus = Counter(DemoOrder.objects.filter(thread=thread).values_list("sku", flat=True))
    assert all(count == 1 for count in skus.values())
    seqs = JournalFact.objects.filter(thread=thread).order_by("seq").values_list("seq", flat=True)
    assert list(seqs) == list(range(1, len(seqs) + 1))
    book = folded(str(thread.id))
    assert book.turns[turn_id].state == turn.state
    assert [r.status for r in book.runs.values()].count("running") == 0
    thread.refresh_from_db()
    assert (thread.lease_owner, thread.active_run_id) == (None, None)
    assert transaction.get_autocommit()
