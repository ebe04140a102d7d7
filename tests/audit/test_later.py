"""Reads and refusals wait a moment, are written together, and are never lost to an exit."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.db import OperationalError, transaction
from pytest_django.fixtures import Settings

from agentadmin.audit import later
from agentadmin.audit.format import Outcome
from agentadmin.audit.later import SAME_READ, LaterQueue, append_later, flush, read_later
from agentadmin.audit.models import AuditEntry
from agentadmin.audit.verify import verify
from tests.audit.conftest import ALICE, new_entry

ROOT = Path(__file__).parents[2]


@pytest.mark.django_db
def test_refusals_are_each_an_entry() -> None:
    for _ in range(3):
        append_later(new_entry(outcome=Outcome.DENIED))
    assert flush() == 3
    assert AuditEntry.objects.filter(outcome="denied").count() == 3
    assert verify()["ok"]


@pytest.mark.django_db
def test_the_same_read_within_a_minute_is_one_entry() -> None:
    for target in ("s-1", "s-2", "s-1", "s-1"):
        read_later(new_entry(action="sessions.read", target_id=target))
    assert flush() == 2


def test_the_same_read_a_minute_later_is_another() -> None:
    at = [0.0]
    queue = LaterQueue(delay=lambda: None, clock=lambda: at[0])
    for moment in (0.0, SAME_READ - 1, SAME_READ, SAME_READ + 1):
        at[0] = moment
        queue.add_read(new_entry())
    assert len(queue.discard()) == 2


@pytest.mark.django_db
def test_what_cannot_be_written_waits_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise OperationalError("database is locked")

    append_later(new_entry())
    with monkeypatch.context() as patch:
        patch.setattr(later, "append_all", refuse)
        assert flush() == 0
    assert flush() == 1


@pytest.mark.django_db(transaction=True)
def test_a_thread_writes_within_two_seconds(settings: Settings) -> None:
    settings.AUDIT_FLUSH_SECONDS = 0.05
    append_later(new_entry())
    deadline = time.monotonic() + 2
    while not AuditEntry.objects.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.django_db(transaction=True)
def test_a_refusal_outlives_the_callers_rollback() -> None:
    def refuse() -> None:
        with transaction.atomic():
            append_later(new_entry(outcome=Outcome.DENIED))
            raise RuntimeError("refused")

    with pytest.raises(RuntimeError):
        refuse()
    flush()
    assert AuditEntry.objects.count() == 1


CHILD = """
import django
from django.conf import settings
django.setup()
settings.AUDIT_FLUSH_SECONDS = 1.5
settings.DATABASES["default"]["NAME"] = {name!r}
from agentadmin.audit.later import append_later
from tests.audit.conftest import new_entry
append_later(new_entry(reason="the last words"))
"""


@pytest.mark.django_db(transaction=True)
def test_a_process_that_ends_at_once_loses_nothing(settings: Settings) -> None:
    code = CHILD.format(name=str(settings.DATABASES["default"]["NAME"]))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert AuditEntry.objects.get().reason == "the last words"


def test_another_actor_reading_the_same_is_another_read() -> None:
    queue = LaterQueue(delay=lambda: None)
    queue.add_read(new_entry())
    queue.add_read(new_entry(actor=type(ALICE)(kind=ALICE.kind, id="8", name="ann")))
    assert len(queue.discard()) == 2
