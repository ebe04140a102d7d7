"""Every way to alter the log is found and named."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db.models import F, Q

from agentadmin.audit.erase import erase_bodies
from agentadmin.audit.format import hash_of
from agentadmin.audit.models import AuditChain, AuditEntry
from agentadmin.audit.verify import verify
from tests.audit.conftest import Write

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def five_entries(write: Write) -> None:
    for number in range(1, 6):
        write(target_id=f"s-{number}", reason=f"reason {number}")
    write(namespace=None)


def rows(n: int):  # type: ignore[no-untyped-def]
    return AuditEntry.objects.filter(chain="default", n=n)


def swap() -> None:
    """Two entries trade places, whatever the unique constraint has to be told meanwhile."""
    rows(2).update(n=99)
    rows(3).update(n=2)
    rows(99).update(n=3)


def insert() -> None:
    """A copy at the end, with hashes that fit, but the head knows nothing of it."""
    entry = rows(5).get()
    head = AuditChain.objects.get(chain="default").head_hash
    entry.pk, entry.n, entry.prev_hash = rows(1).get().pk.__class__(int=1), 6, head
    entry.hash = hash_of(head, entry.header, entry.body_commit)
    entry.save(force_insert=True)


def cut_off_with_head() -> None:
    last = rows(4).get()
    rows(5).delete()
    AuditChain.objects.filter(chain="default").update(head_hash=last.hash)


def forge() -> None:
    """Another reason with a matching commitment: the hash still knows the old one."""
    entry = rows(2).get()
    body = entry.body.replace("reason 2", "reason 9")
    salt = bytes(entry.salt)
    from agentadmin.engine.state.codec import commit_of

    rows(2).update(body=body, reason="reason 9", body_commit=commit_of(salt, body))


TAMPERINGS: list[tuple[Callable[[], object], int]] = [
    (lambda: rows(3).update(header=F("prev_hash")), 3),
    (lambda: rows(3).update(hash="0" * 64), 3),
    (lambda: rows(3).update(prev_hash="0" * 64), 3),
    (lambda: rows(3).update(body='{"reason":"x"}'), 3),
    (lambda: rows(3).update(salt=b"0" * 16), 3),
    (lambda: rows(3).delete(), 3),
    (lambda: rows(1).delete(), 1),
    (lambda: rows(5).delete(), 5),
    (lambda: AuditEntry.objects.filter(chain="default").delete(), 1),
    (cut_off_with_head, 5),
    (swap, 2),
    (insert, 6),
    (forge, 2),
    (lambda: AuditChain.objects.filter(chain="default").update(head_hash="0" * 64), 5),
    (lambda: AuditChain.objects.filter(chain="default").update(n=4), 4),
    (lambda: AuditChain.objects.filter(chain="default").delete(), 1),
    (lambda: rows(2).update(reason="I had to"), 2),
    (lambda: rows(2).update(reason=None), 2),
    (lambda: rows(2).update(actor="mallory"), 2),
    (lambda: rows(2).update(actor_id="8"), 2),
    (lambda: rows(2).update(action="sessions.read"), 2),
    (lambda: rows(2).update(target="session:s-9"), 2),
    (lambda: rows(2).update(target_label="carol"), 2),
    (lambda: rows(2).update(within="s-9"), 2),
    (lambda: rows(2).update(agent_id="other"), 2),
    (lambda: rows(2).update(outcome="denied"), 2),
    (lambda: rows(2).update(trace_id="t-2"), 2),
    (lambda: rows(2).update(namespace="elsewhere"), 2),
    (lambda: rows(2).update(namespace=None), 2),
    (lambda: rows(2).update(at=F("at") + timedelta(microseconds=1)), 2),
]


@pytest.mark.parametrize(("tamper", "n"), TAMPERINGS)
def test_whatever_is_altered_is_found_at_its_place(tamper: Callable[[], object], n: int) -> None:
    assert verify()["ok"]
    tamper()
    answer = verify()
    assert not answer["ok"]
    assert (answer["first_bad"]["chain"], answer["first_bad"]["n"]) == ("default", n)
    assert answer["first_bad"]["why"]


def test_an_untouched_chain_verifies_beside_an_altered_one() -> None:
    rows(1).update(actor="mallory")
    assert verify("system")["ok"]
    assert not verify("default")["ok"]


def test_erased_bodies_are_counted_and_leave_the_chain_whole() -> None:
    assert erase_bodies(Q(within="s-2")) == 1
    assert erase_bodies(Q(within="s-2")) == 0
    assert verify() == {"ok": True, "checked": 6, "erased": 1, "first_bad": None}
    entry = rows(2).get()
    assert (entry.body, entry.salt, entry.reason, entry.target_label) == (None,) * 4


def test_a_body_that_comes_back_after_erasure_is_found() -> None:
    erase_bodies(Q(within="s-2"))
    rows(2).update(body="{}", salt=b"0" * 16)
    assert verify()["first_bad"]["n"] == 2


def test_a_column_that_survives_its_erased_body_is_found() -> None:
    erase_bodies(Q(within="s-2"))
    rows(2).update(reason="reason 2")
    assert verify()["first_bad"]["n"] == 2


def test_pages_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentadmin.audit.verify.PAGE", 2)
    assert verify()["checked"] == 6
