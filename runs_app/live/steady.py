"""Background steps that go on whatever fails: a reader that ended would leave watchers waiting."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from django.db import DatabaseError

from runs_app.live.streams import UNAVAILABLE
from runs_app.live.timing import timing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)


class Steady:
    """Repeats steps and says once that Redis failed, and once that it is back."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._failing = False

    async def repeat[**P](
        self, step: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Repeat a step for ever, with a pause after a fault."""
        while True:
            try:
                await step(*args, **kwargs)
                continue
            except UNAVAILABLE as error:
                self._failed(error)
            except DatabaseError as error:
                log.warning("%s: the database does not answer: %s", self._name, error)
            except Exception:
                log.exception("%s: a step failed", self._name)
            await asyncio.sleep(timing.retry)

    def answered(self) -> bool:
        """Redis has answered; whether it had failed before."""
        before, self._failing = self._failing, False
        if before:
            log.info("%s: Redis answers again", self._name)
        return before

    def _failed(self, error: BaseException) -> None:
        if not self._failing:
            self._failing = True
            log.warning("%s: Redis does not answer: %s", self._name, error)
