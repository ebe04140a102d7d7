"""Many writers, one chain: no gap, no fork, on whichever database the run uses."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from agentadmin.audit.append import append
from agentadmin.audit.models import AuditEntry
from agentadmin.audit.verify import verify
from tests.audit.conftest import new_entry

WRITERS = 200


def _write(number: int) -> None:
    """Two chains, each first touched by many at once."""
    try:
        with transaction.atomic():
            append(new_entry(namespace=f"team-{number % 2}", target_id=str(number)))
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_two_hundred_concurrent_writers_leave_whole_chains() -> None:
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(_write, range(WRITERS)))
    for chain in ("team-0", "team-1"):
        numbers = AuditEntry.objects.filter(chain=chain).order_by("n").values_list("n", flat=True)
        assert list(numbers) == list(range(1, WRITERS // 2 + 1))
    assert verify() == {"ok": True, "checked": WRITERS, "erased": 0, "first_bad": None}
