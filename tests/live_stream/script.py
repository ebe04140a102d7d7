"""A random run with a web side beside it: facts and deltas, published by whoever is there."""

from __future__ import annotations

import itertools
from random import Random
from typing import TYPE_CHECKING, Any

from agentadmin.engine.events import WireDelta
from agentadmin.engine.journal.facts import Fact, NewFact
from agentadmin.engine.messages import (
    TextBlock,
    ToolResultBlock,
    assistant_message,
    tool_message,
    user_message,
)
from runs_app.live.writer import StreamWriter
from runs_app.recorder import Recorder
from tests.live_stream.journal import commit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentadmin.engine.journal.base import ThreadRef
    from runs_app.live.lanes import Lane

_RESULT = "tool_result"
_numbers = itertools.count()


class LossyWriter(StreamWriter):
    """Loses every k-th entry on its way into the stream."""

    def __init__(self, every: int) -> None:
        super().__init__()
        self._every = every
        self._count = 0

    def _lane(self, thread_id: str) -> Lane:
        known = thread_id in self._lanes
        lane = super()._lane(thread_id)
        if not known and self._every:
            whole = lane.assign
            lane.assign = lambda items: [p for p in whole(items) if self._arrives()]  # type: ignore[method-assign]
        return lane

    def _arrives(self) -> bool:
        self._count += 1
        return self._count % self._every != 0


def submitted(text: str) -> dict[str, Any]:
    """A turn's input."""
    return {"request_id": None, "input": [user_message(text).to_dict()], "by": None}


class Script:
    """Each step commits or streams something; `steps` yields after each of them."""

    def __init__(self, ref: ThreadRef, seed: int, *, lose_every: int, ends: bool) -> None:
        self._ref = ref
        self._random = Random(seed)
        self._ends = ends
        self._workers = [LossyWriter(lose_every), LossyWriter(lose_every)]
        self._web = LossyWriter(lose_every)
        self._late: list[Fact] = []
        self._turn = f"turn-{next(_numbers)}"
        self._run = f"run-{next(_numbers)}"
        self.lossless = not lose_every

    def close(self) -> None:
        """Stop the publishers; what they hold leaves."""
        for writer in (*self._workers, self._web):
            writer.close(5)

    def flush(self) -> None:
        """Everything published so far is in the stream."""
        self._publish_late()
        for writer in (*self._workers, self._web):
            assert writer.flush(5)

    def steps(self) -> Iterator[None]:
        """The run, step by step."""
        started = self._commit("turn/start", submitted("go"))
        yield
        self._commit("run/start", {"attempt": 1, "worker": "w", "agent": None, "why": "admitted"})
        self._commit("message/user", {"item": "u", "input": {"seq": started.seq, "index": 0}})
        yield
        for step in range(1, 4):
            yield from self._reason(step)
            yield from self._act(step)
        yield from self._stream("text_block", f"{self._run}/9/1", "the last answer " * 5, 9)
        if self._ends:
            self._tell("final", 9)
            self._commit("turn/completed", {"outcome": "done", "reply": "final"})
            usage = {"input": 1, "output": 1, "calls": 1}
            self._commit("run/end", {"status": "completed", "reason": None, "usage": usage})
        yield

    def _reason(self, step: int) -> Iterator[None]:
        for n, kind in enumerate(("thinking_block", "text_block", "tool_call"), 1):
            text = f"{kind} of step {step}: é🙂 " * self._random.randint(1, 5)
            yield from self._stream(kind, f"{self._run}/{step}/{n}", text, step)
        self._tell(f"a{step}", step)
        yield

    def _act(self, step: int) -> Iterator[None]:
        calls = {f"c{step}-{n}": f"{self._run}/{step}/{n}" for n in (4, 5)}
        for call_id, block in calls.items():
            yield from self._stream(_RESULT, block, f"out of {call_id} " * 3, step, call_id=call_id)
        for call_id in self._random.sample(list(calls), 2):
            made = ToolResultBlock.make(id=call_id, name="t", output="done")
            message = tool_message(made, name="t").to_dict()
            payload = {"item": f"r-{call_id}", "message": message, "call_id": call_id}
            self._commit("tool/result", payload, step)
            yield

    def _tell(self, item: str, step: int) -> None:
        message = assistant_message([TextBlock.make(f"message {item}")], name="demo").to_dict()
        self._commit("message/assistant", {"item": item, "message": message}, step)

    def _stream(self, kind: str, block: str, text: str, step: int, **data: Any) -> Iterator[None]:
        self._send(f"{kind}_start", {"block": block, "offset": 0, **data}, step)
        at = 0
        while at < len(text):
            piece = text[at : at + self._random.randint(1, 12)]
            self._send(
                f"{kind}_delta", {"block": block, "offset": at, "delta": piece, **data}, step
            )
            at += len(piece)
            if self._random.random() < 0.2:
                self._disturb()
                yield
        self._send(f"{kind}_end", {"block": block, "offset": at, **data}, step)

    def _send(self, type_: str, data: dict[str, Any], step: int) -> None:
        self._workers[0].delta(
            self._ref.id, WireDelta(type_, data, str(step)), self._run, self._turn
        )

    def _commit(self, type_: str, payload: dict[str, Any], step: int | None = None) -> Fact:
        """Commit and publish; now and then the publisher dies in between."""
        fact = NewFact(type_, payload, self._turn, self._run, None if step is None else str(step))
        committed = commit(self._ref, [fact], projector=Recorder())
        if self.lossless or self._random.random() < 0.8:
            self._workers[0].facts(self._ref.id, committed)
        return committed[0]

    def _disturb(self) -> None:
        """What others do: queue a turn, publish late, take the run over."""
        what = self._random.randrange(4)
        if what == 0:
            fact = NewFact("turn/start", submitted("later"), f"turn-{next(_numbers)}")
            self._late += commit(self._ref, [fact], projector=Recorder())
        elif what == 1:
            self._publish_late()
        elif what == 2:
            self._workers[0].flush(5)
            self._workers.reverse()

    def _publish_late(self) -> None:
        late, self._late = self._late, []
        self._random.shuffle(late)
        for fact in late:
            self._web.facts(self._ref.id, [fact])
