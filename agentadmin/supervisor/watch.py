"""The supervisor's loop: restart what ends, repeat what goes wrong, stop when told."""

import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from agentadmin.supervisor.child import Child, Spec, how_it_ended, stop
from agentadmin.supervisor.lifeline import Lifeline
from agentadmin.supervisor.lines import trouble_of

TICK = 0.1
# Together within the five seconds that stopping may take.
GRACE = 4.3
STORE_GRACE = 0.5
BACK_OFF = (0.5, 0.5, 1, 2, 5, 10)
HEALTHY_AFTER = 15.0
"""Longer than a child that cannot start takes to end; one killed later begins anew at once."""

Say = Callable[[str], None]


class Tail:
    """Reads what was added to a log file since the last look."""

    def __init__(self, path: Path, trouble: re.Pattern[str]) -> None:
        self._path = path
        self._trouble = trouble
        self._offset = path.stat().st_size if path.is_file() else 0

    def trouble(self) -> list[str]:
        """New whole lines that report a warning or an error."""
        if not self._path.is_file():
            return []
        with self._path.open("rb") as log:
            self._offset = 0 if log.seek(0, 2) < self._offset else self._offset
            log.seek(self._offset)
            text = log.read(1 << 20)
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        lines = whole.decode("utf-8", "replace").splitlines()
        told = (trouble_of(line, self._trouble) for line in lines)
        return [line for line in told if line is not None]


class Post:
    """One place in the crew: a program that is to run, and who runs it now."""

    def __init__(self, spec: Spec, lifeline: Lifeline) -> None:
        self.spec = spec
        self._lifeline = lifeline
        self._failures = 0
        self._again_at = 0.0
        self.tail = Tail(spec.log, spec.trouble)
        self.child: Child | None = Child(spec, lifeline)

    def look(self, now: float) -> str | None:
        """Restart the program if it ended; a sentence when there is something to tell."""
        if self.child is None:
            if now >= self._again_at:
                self.child = Child(self.spec, self._lifeline)
            return None
        code = self.child.ended()
        return None if code is None else self._lost(self.child, code, now)

    def _lost(self, child: Child, code: int, now: float) -> str:
        if now - child.started > HEALTHY_AFTER:
            self._failures = 0
        wait = BACK_OFF[min(self._failures, len(BACK_OFF) - 1)]
        self._failures += 1
        self._again_at = now + wait
        child.bury()
        self.child = None
        what = f"The {self.spec.name} (process {child.pid}) {how_it_ended(code)}"
        return f"{what}; starting it again in {wait:g} s. See {self.spec.log}."


class Crew:
    """All programs of one `up`: the store first to come and last to go."""

    def __init__(self, lifeline: Lifeline, say: Say) -> None:
        self._lifeline = lifeline
        self._say = say
        self._posts: list[Post] = []
        self._stores: list[Post] = []
        self.stopping = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._asked_to_stop)

    def _asked_to_stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def start_store(self, spec: Spec) -> Child | None:
        """Start a program that the others need."""
        self._stores.append(Post(spec, self._lifeline))
        return self._stores[-1].child

    def start(self, spec: Spec) -> None:
        """Start a program."""
        self._posts.append(Post(spec, self._lifeline))

    def look(self) -> None:
        """One round: restart what ended, repeat the warnings of each log."""
        now = time.monotonic()
        for post in (*self._stores, *self._posts):
            said = [post.look(now), *(f"{post.spec.name}: {t}" for t in post.tail.trouble())]
            for sentence in filter(None, said):
                self._say(sentence)
        time.sleep(TICK)

    def run(self) -> None:
        """Watch until told to stop."""
        while not self.stopping:
            self.look()

    def stop(self) -> None:
        """Everything down, the stores last."""
        stop([post.child for post in self._posts if post.child], GRACE)
        stop([post.child for post in self._stores if post.child], STORE_GRACE)
        self._lifeline.close()
