"""A load on the running product, through its public API, and what came of it.

Turns are submitted at a steady rate whatever the product answers (an open loop), so that a product
that falls behind is seen to fall behind.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from agentadmin.engine.identity import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
ENDED = frozenset({"completed", "failed", "cancelled"})
# A turn that waits for a person has been worked on as far as it will be.
DONE = ENDED | {"waiting", "paused"}
AT_ONCE = 32
PATIENCE = 30.0
LOOK_EVERY = 0.1

type Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much, for how long, and at what."""

    url: str
    token: str
    sessions: int
    rate: float
    seconds: float
    text: str
    agent_id: str

    @property
    def turns(self) -> int:
        """How many turns will be submitted."""
        return max(1, round(self.rate * self.seconds))


def is_loopback(url: str) -> bool:
    """Whether the target is this machine."""
    return urlsplit(url).hostname in LOOPBACK


@dataclass(slots=True)
class Figures:
    """What was measured, in milliseconds."""

    create: list[float] = field(default_factory=list)
    submit: list[float] = field(default_factory=list)
    turn: list[float] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether everything was taken and came to an end."""
        return not self.refused and set(self.states) <= DONE and not self.states["failed"]

    def document(self) -> dict[str, Any]:
        """For machines, and for the table."""
        ended = sum(self.states[state] for state in DONE)
        return {
            "ok": self.ok,
            "seconds": round(self.seconds, 2),
            "sessions": len(self.create),
            "turns": {"submitted": len(self.submit), **dict(self.states)},
            "turns_per_second": round(ended / self.seconds, 1) if self.seconds else 0.0,
            "refused": dict(self.refused),
            "create_ms": spread(self.create),
            "submit_ms": spread(self.submit),
            "turn_ms": spread(self.turn),
        }


def spread(values: Sequence[float]) -> dict[str, float] | None:
    """Median, 95th percentile and maximum."""
    if not values:
        return None
    ordered = sorted(values)
    at = {"p50": 0.5, "p95": 0.95, "max": 1.0}
    last = len(ordered) - 1
    return {name: round(ordered[round(part * last)], 1) for name, part in at.items()}


class NotThereError(Exception):
    """Nothing answers where the product should be."""


class Simulation:
    """One run of a plan."""

    def __init__(self, plan: Plan, say: Say) -> None:
        self.plan = plan
        self.figures = Figures()
        self.prefix = f"load-{new_id()}"
        """What the ids of this run's sessions begin with: they stay when it is over."""
        self._say = say
        self._doors = asyncio.Semaphore(AT_ONCE)
        self._http: httpx.AsyncClient

    async def run(self) -> None:
        """Sessions first, then turns; every turn is followed to its end. Raises NotThereError."""
        headers = {"Authorization": f"Bearer {self.plan.token}"}
        base = f"{self.plan.url}/api/v1"
        limits = httpx.Limits(max_connections=AT_ONCE * 2)
        async with httpx.AsyncClient(
            base_url=base, headers=headers, timeout=20, limits=limits
        ) as self._http:
            await self._reach()
            made = await asyncio.gather(
                *(self._create(n) for n in range(1, self.plan.sessions + 1))
            )
            threads = [thread for thread in made if thread is not None]
            self._say(f"{len(threads)} sessions made")
            if threads:
                await self._submit_all(threads)

    async def _reach(self) -> None:
        try:
            await self._http.get(f"{self.plan.url}/healthz")
        except httpx.HTTPError as error:
            said = str(error) or type(error).__name__
            raise NotThereError(f"Nothing answers at {self.plan.url} ({said}).") from error

    async def _create(self, number: int) -> str | None:
        async with self._doors:
            body = {"agent_id": self.plan.agent_id, "session_id": f"{self.prefix}-{number}"}
            made = await self._ask("POST", "/sessions", self.figures.create, body)
        return None if made is None else str(made["threads"][0]["id"])

    async def _submit_all(self, threads: list[str]) -> None:
        began = time.monotonic()
        progress = asyncio.create_task(self._progress(began))
        try:
            async with asyncio.TaskGroup() as group:
                for n in range(self.plan.turns):
                    await asyncio.sleep(began + n / self.plan.rate - time.monotonic())
                    group.create_task(self._turn(threads[n % len(threads)]))
        finally:
            self.figures.seconds = time.monotonic() - began
            progress.cancel()

    async def _turn(self, thread_id: str) -> None:
        body = {"request_id": new_id(), "input": self.plan.text}
        path = f"/threads/{thread_id}/turns"
        receipt = await self._ask("POST", path, self.figures.submit, body)
        if receipt is not None:
            self.figures.states[await self._followed(receipt["turn_id"])] += 1

    async def _followed(self, turn_id: str) -> str:
        """The state in which a turn came to rest, or `unfinished`."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            await asyncio.sleep(LOOK_EVERY)
            async with self._doors:
                turn = await self._ask("GET", f"/turns/{turn_id}", None)
            if turn is None:
                return "unknown"
            if turn["state"] in DONE:
                if turn["ended_at"]:
                    self.figures.turn.append(_between(turn["created_at"], turn["ended_at"]))
                return str(turn["state"])
        return "unfinished"

    async def _ask(
        self, method: str, path: str, times: list[float] | None, body: Any = None
    ) -> dict[str, Any] | None:
        began = time.perf_counter()
        try:
            answer = await self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            self.figures.refused[type(error).__name__] += 1
            return None
        if answer.is_error:
            self.figures.refused[_code(answer)] += 1
            return None
        if times is not None:
            times.append((time.perf_counter() - began) * 1000)
        found: dict[str, Any] = answer.json()
        return found

    async def _progress(self, began: float) -> None:
        while True:
            await asyncio.sleep(1)
            ended = sum(self.figures.states.values())
            sent, refused = len(self.figures.submit), sum(self.figures.refused.values())
            seconds = time.monotonic() - began
            self._say(f"{seconds:.0f} s: {sent} submitted, {ended} ended, {refused} refused")


def _between(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds() * 1000


def _code(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["code"])
    except (ValueError, KeyError, TypeError):
        return f"http {answer.status_code}"
