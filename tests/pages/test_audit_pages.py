"""The audit pages: words and chips, spans of time, chains and numbers, what belongs together."""

import re

import pytest
from django.db import transaction

from agentadmin.access.actor import Actor, ActorKind
from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.audit.models import AuditEntry
from tests.pages.conftest import Visit, html, text

pytestmark = pytest.mark.django_db
BOB = Actor(kind=ActorKind.USER, id="7", name="bob", address="192.0.2.1", trace_id="t-12345678")


def write(
    action: str = "state.update", *, outcome: Outcome = Outcome.ALLOWED, trace: str = ""
) -> AuditEntry:
    who = BOB if not trace else Actor(kind=ActorKind.TOKEN, id="7", name="bob", trace_id=trace)
    entry = NewEntry(
        namespace="default",
        actor=who,
        action=action,
        target=Target(kind="session", id="s-1", within="s-1", agent_id="demo", label="s-1"),
        outcome=outcome,
        reason="it runs in circles",
    )
    with transaction.atomic():
        return append(entry)


def test_words_in_the_box_are_filters_and_become_chips(visit: Visit) -> None:
    write()
    write("runs.interrupt", outcome=Outcome.DENIED)
    page = visit("auditor").get("/audit", q="actor:bob outcome:denied circles")
    assert "runs.interrupt" in text(page)
    assert "state.update" not in text(page)
    without = re.findall(r'href="([^"]+)" aria-label="Remove (\w+)', html(page))
    assert {name for _, name in without} == {"actor", "outcome"}
    addresses = {name: url for url, name in without}
    assert addresses["outcome"] == "?q=circles&amp;actor=bob"


def test_a_span_of_time_bounds_the_list_and_its_files(visit: Visit) -> None:
    write()
    page = html(visit("auditor").get("/audit", time="1h", actor="bob"))
    assert "state.update" in page
    assert "since=" in page
    assert "No entry fits" in text(visit("auditor").get("/audit", until="2020-01-01"))


@pytest.mark.parametrize("query", [{"time": "2y"}, {"since": "soon"}, {"outcome": "x"}])
def test_a_filter_that_cannot_be_stands_in_its_place_and_loses_nothing(
    visit: Visit, query: dict[str, str]
) -> None:
    page = visit("auditor").get("/audit", q="kept", **query)
    assert page.status_code == 422
    assert "This filter cannot be used." in text(page)
    assert 'value="kept"' in html(page)


def test_every_number_names_its_chain(visit: Visit) -> None:
    entry = write()
    shown = text(visit("auditor").get("/audit", actor="bob"))
    assert f"default {entry.n}" in shown
    assert "of the chain default" in text(visit("auditor").get(f"/audit/{entry.pk}"))


def test_an_entry_is_recomputed_and_leads_to_what_belongs_to_it(visit: Visit) -> None:
    first, second, other = write(), write("runs.cancel"), write(trace="t-other-one")
    page = visit("auditor").get(f"/audit/{second.pk}")
    assert "recomputed" in text(page)
    same = html(page).partition('id="request"')[2].partition("</section>")[0]
    assert str(first.pk) in same
    assert str(other.pk) not in same
    assert f'href="/audit/{first.pk}" rel="prev"' in html(page)
    assert f'href="/audit/{other.pk}" rel="next"' in html(page)
    AuditEntry.objects.filter(pk=second.pk).update(hash="0" * 64)
    assert "header and hash do not agree" in text(visit("auditor").get(f"/audit/{second.pk}"))


def test_the_list_keeps_the_verdict_of_the_last_verification(visit: Visit) -> None:
    write()
    visit("auditor").post("/audit/verify")
    assert "Chain verified" in text(visit("auditor").get("/audit"))


def test_who_may_not_export_sees_why(visit: Visit) -> None:
    assert "needs audit:export" in text(visit("operator").get("/audit"))
    assert "format=xlsx" in html(visit("auditor").get("/audit"))


def refuse(path: str, *, erased: bool = False) -> AuditEntry:
    refused = NewEntry(
        namespace="default",
        actor=BOB,
        action="create_session",
        target=Target(kind="route", label=path),
        outcome=Outcome.DENIED,
    )
    with transaction.atomic():
        entry = append(refused)
    if erased:
        AuditEntry.objects.filter(pk=entry.pk).update(target_label=None, body=None, salt=None)
    return entry


def test_an_address_without_an_id_is_the_same_target_as_that_address_alone(visit: Visit) -> None:
    same, other = refuse("/api/v1/sessions"), refuse("/admin/users")
    entry, erased = refuse("/api/v1/sessions"), refuse("/api/v1/sessions", erased=True)
    page = html(visit("auditor").get(f"/audit/{entry.pk}"))
    before = page.partition('id="earlier"')[2].partition("</section>")[0]
    assert str(same.pk) in before
    assert str(other.pk) not in before
    assert "All of it" not in before
    assert 'id="earlier"' not in html(visit("auditor").get(f"/audit/{erased.pk}"))


def test_who_acted_stands_in_plain_words(visit: Visit) -> None:
    page = text(visit("auditor").get(f"/audit/{write().pk}"))
    assert "bob (user)" in page
    assert "nobody else" not in page
