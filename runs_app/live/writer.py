"""The one thread of a process that writes live events to Redis.

Runs and services only queue, so a slow or dead Redis costs them nothing: what cannot be sent is
dropped. The stream is a cache with holes; the reader takes what is missing from the database.
"""

from __future__ import annotations

import logging
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING

from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, RedisError
from redis.retry import Retry

from agentadmin.engine.state import codec
from agentadmin.redis import commands_sync
from runs_app.live.batch import Batch, add, is_refused
from runs_app.live.lanes import Lane, Pending, always
from runs_app.live.timing import timing
from runs_app.live.wire import FLEET_CHANNEL, parse_entry_id, stream_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis import Redis

    from agentadmin.engine.events import WireDelta
    from agentadmin.engine.journal.facts import Fact

log = logging.getLogger(__name__)

IDLE_LANES = 2000


class StreamWriter:
    """Queues from any thread, writes from its own, which starts with the first event."""

    def __init__(self, connect: Callable[[], Redis] = commands_sync) -> None:
        self._connect = connect
        self._client: Redis | None = None
        self._changed = Condition()
        self._lanes: dict[str, Lane] = {}
        self._busy: dict[str, Lane] = {}
        self._hints: dict[str, int | None] = {}
        self._thread: Thread | None = None
        self._closing = False
        self._sending = False
        self._down_until = 0.0
        self._failing = False

    # --- Queueing, from any thread ------------------------------------------------------------

    def delta(
        self, thread_id: str, delta: WireDelta, run_id: str | None, turn_id: str | None
    ) -> None:
        """Queue a delta behind everything queued for the thread before."""
        with self._changed:
            lane = self._lane(thread_id)
            lane.add_delta(delta, run_id, turn_id, monotonic())
            self._wake(lane)

    def facts(self, thread_id: str, facts: Sequence[Fact]) -> None:
        """Queue committed facts; they and the deltas before them leave at once."""
        if not facts:
            return
        with self._changed:
            lane = self._lane(thread_id)
            lane.add_facts(facts)
            self._hints[thread_id] = facts[-1].seq
            self._wake(lane)

    def hint(self, thread_id: str) -> None:
        """Tell the lists that something about the thread changed that is no fact."""
        with self._changed:
            self._hints.setdefault(thread_id, None)
            self._wake(None)

    def hold(self, thread_id: str, holds: Callable[[], bool]) -> None:
        """Say until when the thread's deltas may go on behind somebody else's entries."""
        with self._changed:
            self._lane(thread_id).holds = holds

    def unhold(self, thread_id: str, holds: Callable[[], bool]) -> None:
        """Take that back, unless a later publisher has said otherwise."""
        with self._changed:
            lane = self._lane(thread_id)
            if lane.holds is holds:
                lane.holds = always

    def flush(self, seconds: float) -> bool:
        """Wait until everything queued was sent or dropped; False when time ran out."""
        with self._changed:
            for lane in self._busy.values():
                lane.due = 0.0
            self._changed.notify_all()
            return self._changed.wait_for(self._is_empty, seconds)

    def close(self, seconds: float = 1.0) -> None:
        """Send what is queued and end the thread."""
        with self._changed:
            self._closing = True
            thread, self._thread = self._thread, None
            self._changed.notify_all()
        if thread is not None:
            thread.join(seconds)

    def _lane(self, thread_id: str) -> Lane:
        lane = self._lanes.get(thread_id)
        if lane is None:
            lane = self._lanes[thread_id] = Lane(thread_id)
            if len(self._lanes) > IDLE_LANES:
                self._forget_idle()
        return lane

    def _forget_idle(self) -> None:
        """A lane that is made again finds its place in the stream when Redis refuses it."""
        idle = [lane for key, lane in self._lanes.items() if key not in self._busy]
        idle.sort(key=lambda lane: lane.used)
        for lane in idle[: IDLE_LANES // 2]:
            del self._lanes[lane.thread_id]

    def _wake(self, lane: Lane | None) -> None:
        if lane is not None:
            self._busy[lane.thread_id] = lane
        if (self._thread is None or not self._thread.is_alive()) and not self._closing:
            self._thread = Thread(target=self._run, name="live-stream", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _is_empty(self) -> bool:
        return not self._busy and not self._hints and not self._sending

    # --- Sending, from the writer's thread ----------------------------------------------------

    def _run(self) -> None:
        while self._wait_for_work():
            lanes, hints = self._take()
            try:
                self._send(lanes, hints)
            except Exception:  # the thread outlives any fault: events are only a cache
                log.exception("live stream: events were dropped")
            with self._changed:
                self._sending = False
                self._changed.notify_all()
        if self._client is not None:
            self._client.close()

    def _wait_for_work(self) -> bool:
        """Sleep until something is due; False when closing and nothing is left."""
        with self._changed:
            while True:
                if self._closing:
                    return not self._is_empty()
                due = min((lane.due for lane in self._busy.values()), default=None)
                due = 0.0 if self._hints else due
                wait = None if due is None else due - monotonic()
                if wait is not None and wait <= 0:
                    return True
                self._changed.wait(wait)

    def _take(self) -> tuple[list[tuple[Lane, list[Pending]]], dict[str, int | None]]:
        moment = monotonic()
        with self._changed:
            due = [lane for lane in self._busy.values() if self._closing or lane.due <= moment]
            for lane in due:
                del self._busy[lane.thread_id]
            hints, self._hints = self._hints, {}
            self._sending = True
            return [(lane, lane.take(moment)) for lane in due], hints

    def _send(self, lanes: list[tuple[Lane, list[Pending]]], hints: dict[str, int | None]) -> None:
        batches = [Batch(lane, lane.assign(items)) for lane, items in lanes]
        if monotonic() < self._down_until:
            return
        try:
            for batch in self._write(batches, hints):
                self._resend(batch)
        except (RedisError, OSError) as error:
            self._failed(error)
        else:
            self._answered()

    def _write(self, batches: list[Batch], hints: dict[str, int | None]) -> list[Batch]:
        """Everything in one round trip; of every lane the deltas that Redis refused."""
        with self._redis().pipeline(transaction=False) as pipe:
            for batch in batches:
                add(pipe, batch)
            for thread_id, head in hints.items():
                hint = codec.dumps({"thread_id": thread_id, "head_seq": head})
                pipe.publish(FLEET_CHANNEL, hint)
            replies = pipe.execute(raise_on_error=False)
        refused = []
        for batch in batches:
            size = len(batch.entries)
            refused.append(batch.refused_tail(replies[:size]))
            replies = replies[size + 1 :]
        return refused

    def _resend(self, refused: Batch) -> None:
        """Go on behind the stream's top, which another process moved, while the lease holds."""
        lane = refused.lane
        if not refused.entries or not lane.holds():
            return
        client = self._redis()
        top = client.xinfo_stream(stream_key(lane.thread_id))["last-generated-id"]
        lane.position = max(lane.position, parse_entry_id(top))
        batch = Batch(lane, lane.assign([item for item, _ in refused.entries]))
        with client.pipeline(transaction=False) as pipe:
            add(pipe, batch)
            for reply in pipe.execute(raise_on_error=False):
                is_refused(reply)

    def _redis(self) -> Redis:
        if self._client is None:
            self._client = self._connect()
            # A connection that died unseen is worth one more try; waiting longer is not.
            self._client.set_retry(Retry(NoBackoff(), 1, supported_errors=(ConnectionError,)))
        return self._client

    def _failed(self, error: Exception) -> None:
        self._down_until = monotonic() + timing.retry
        if not self._failing:
            self._failing = True
            log.warning("live stream: Redis does not take events: %s", error)

    def _answered(self) -> None:
        if self._failing:
            self._failing = False
            log.info("live stream: Redis takes events again")
