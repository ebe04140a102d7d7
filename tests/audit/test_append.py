"""Entries take their place in a chain, in the caller's transaction."""

import hashlib
import json

import pytest
from django.db import transaction
from django.db.transaction import TransactionManagementError

from agentadmin.audit.append import append, append_all
from agentadmin.audit.format import chain_of, namespace_of
from agentadmin.audit.models import AuditChain, AuditEntry
from agentadmin.audit.verify import verify
from agentadmin.engine.state.codec import loads
from tests.audit.conftest import Write, new_entry

pytestmark = pytest.mark.django_db


def test_entries_are_numbered_without_gaps_and_linked(write: Write) -> None:
    first, second = write(), write()
    assert (first.n, second.n) == (1, 2)
    assert first.prev_hash == "0" * 64
    assert second.prev_hash == first.hash
    assert AuditChain.objects.get(chain="default").head_hash == second.hash


def test_a_stranger_recomputes_the_hashes_with_nothing_but_a_json_library(write: Write) -> None:
    entry = write(reason="擅长 \ud83d\ude00 naïve")
    entry.refresh_from_db()
    commit = hashlib.sha256(bytes(entry.salt) + entry.body.encode()).hexdigest()
    link = json.dumps(
        [entry.prev_hash, entry.header, commit], ensure_ascii=False, separators=(",", ":")
    )
    assert commit == entry.body_commit
    assert hashlib.sha256(link.encode()).hexdigest() == entry.hash


def test_the_header_keeps_ids_and_the_body_what_somebody_wrote(write: Write) -> None:
    entry = write(reason="MARKER-reason", label="MARKER-label")
    assert "MARKER" not in entry.header
    assert loads(entry.body)["reason"] == "MARKER-reason"
    assert "192.0.2.1" not in entry.header
    assert loads(entry.header)["target"]["id"] == "s-1"


def test_an_entry_vanishes_with_the_change_that_it_tells_of() -> None:
    def change_and_fail() -> None:
        with transaction.atomic():
            append(new_entry())
            raise RuntimeError("the change failed")

    with pytest.raises(RuntimeError):
        change_and_fail()
    assert not AuditEntry.objects.exists()
    assert not AuditChain.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_entry_outside_of_a_transaction_is_refused() -> None:
    with pytest.raises(TransactionManagementError):
        append(new_entry())


@pytest.mark.parametrize("text", ["\0", "\ud800", "\U0001f600", "<script>", "x" * 2000, "\u202e"])
def test_hostile_text_is_stored_whole_and_verifies(write: Write, text: str) -> None:
    entry = write(reason=text, label=text)
    entry.refresh_from_db()
    assert loads(entry.body)["reason"] == text
    assert verify()["ok"]


def test_a_namespace_that_is_called_system_is_not_the_systems_chain(write: Write) -> None:
    assert write(namespace=None).chain == "system"
    assert write(namespace="system").chain != "system"
    assert verify()["ok"]


@pytest.mark.parametrize("name", ["default", "system", "=system", "==", "=", "擅长"])
def test_every_namespace_has_a_chain_of_its_own(name: str) -> None:
    assert namespace_of(chain_of(name)) == name
    assert chain_of(name) != chain_of(None)


def test_one_chain_sorts_by_id_as_by_number() -> None:
    with transaction.atomic():
        append_all([new_entry() for _ in range(300)])
    by_id = AuditEntry.objects.order_by("id").values_list("n", flat=True)
    assert list(by_id) == list(range(1, 301))
