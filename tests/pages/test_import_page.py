"""The import page: each file has an outcome of its own, with scripts and without."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from agentadmin.audit import later
from agentadmin.audit.models import AuditEntry
from sessions_app.models import AgentSession, AgentThread, JournalFact, Payload
from sessions_app.selectors.threads import state_at
from tests.pages.conftest import PASSWORD, Visit, Visitor, html, text

pytestmark = pytest.mark.django_db

ALLOWS = {
    "allow_rules": {"execute": [{"tool_name": "execute", "behavior": "allow", "source": "x"}]}
}
WIDE = {"session_id": "wide", "permission_context": ALLOWS}


def file(name: str, document: Any) -> SimpleUploadedFile:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return SimpleUploadedFile(name, data, content_type="application/json")


def send(visitor: Visitor, *files: SimpleUploadedFile, htmx: bool = False, **given: Any) -> Any:
    fields = {"namespace": "default", "agent_id": "demo", **given}
    return visitor.post("/sessions/import", htmx=htmx, files=list(files), **fields)


def test_one_bad_file_never_hides_the_others(visit: Visit) -> None:
    olga = visit("operator")
    bad = {"session_id": "b", "context": [{"role": "USER", "content": "hi"}]}
    answer = send(
        olga, file("a.json", {"session_id": "a"}), file("b.json", bad), file("c.zip", b"PK\3\4")
    )
    page = text(answer)
    assert answer.status_code == 200
    assert "1 of 3 imported" in page
    assert "a.json is in: a of an anonymous user, 0 messages, agentscope-java" in page
    assert "b.json was not imported.context[0].content" in page
    assert "c.zip was not imported" in page
    assert "a ZIP archive" in page
    assert AgentSession.objects.count() == 1


def test_words_that_agentscope_does_not_know_are_told_with_their_place(visit: Visit) -> None:
    odd = [{"id": "m", "role": "oracle", "content": [{"type": "hologram"}]}] * 4
    page = html(send(visit("operator"), file("odd.json", {"session_id": "odd", "context": odd})))
    assert "Kept as they came" in page
    assert "<code>context[0].content[0].type</code>" in page
    assert "hologram" in page
    assert "and more" in page


def test_a_line_by_script_is_a_fragment_with_the_status_of_its_outcome(visit: Visit) -> None:
    olga = visit("operator")
    made = send(olga, file("a.json", {"session_id": "a"}), htmx=True, row="7")
    assert made.status_code == 201
    assert "<html" not in html(made)
    assert 'data-outcome="imported"' in html(made)
    taken = send(olga, file("a.json", {"session_id": "a"}), htmx=True, row="8")
    assert taken.status_code == 409
    assert 'id="again-8"' in html(taken)
    assert str(AgentSession.objects.get().id) in html(taken)
    again = send(olga, file("a.json", {"session_id": "a"}), htmx=True, session_id="a-2")
    assert again.status_code == 201
    assert sorted(s.session_id for s in AgentSession.objects.all()) == ["a", "a-2"]


def test_a_file_that_is_sent_again_is_imported_once(visit: Visit) -> None:
    olga = visit("operator")
    for _ in range(2):
        made = send(olga, file("a.json", {"session_id": "a"}), htmx=True, request_id="r")
        assert made.status_code == 201
    assert AgentSession.objects.count() == 1


def test_wider_permissions_are_shown_before_anything_is_written(visit: Visit) -> None:
    olga = visit("operator")
    asked = send(olga, file("w.json", WIDE), htmx=True)
    assert asked.status_code == 403
    assert "it allows more than the agent demo may do by itself" in text(asked)
    assert "adds the rule allow execute" in text(asked)
    assert "Your password again" in text(asked)
    assert not AgentSession.objects.exists()


def test_the_agents_permissions_need_no_password(visit: Visit) -> None:
    made = send(visit("operator"), file("w.json", WIDE), htmx=True, permissions="agent")
    assert made.status_code == 201
    state = state_at(AgentThread.objects.get()).state
    assert "execute" not in state.permission_context.to_dict()["allow_rules"]


def test_keeping_wider_permissions_takes_the_password(visit: Visit) -> None:
    olga = visit("operator")
    assert send(olga, file("w.json", WIDE), htmx=True, widen="1").status_code == 403
    wrong = send(olga, file("w.json", WIDE), htmx=True, widen="1", password="wrong")
    assert wrong.status_code == 401
    assert not AgentSession.objects.exists()
    made = send(olga, file("w.json", WIDE), htmx=True, widen="1", password=PASSWORD)
    assert made.status_code == 201
    state = state_at(AgentThread.objects.get()).state
    assert "execute" in state.permission_context.to_dict()["allow_rules"]


def test_a_pasted_state_comes_in(visit: Visit) -> None:
    made = send(visit("operator"), pasted='{"session_id": "p"}')
    assert "pasted text is in: p" in text(made)


def test_nothing_chosen_is_said_and_what_was_filled_in_stays(visit: Visit) -> None:
    page = send(visit("operator"), agent_id="coder")
    assert page.status_code == 422
    assert "Choose at least one file, or paste a state." in text(page)
    assert 'value="coder"' in html(page)


def test_a_field_that_is_wrong_is_told_at_the_field_and_at_the_line(visit: Visit) -> None:
    olga = visit("operator")
    page = send(olga, file("a.json", {}), agent_id="")
    assert page.status_code == 422
    assert 'id="id_agent_id-error"' in html(page)
    line = send(olga, file("a.json", {}), agent_id="", htmx=True, name="a.json")
    assert line.status_code == 422
    assert "a.json was not imported: Not sent.agent_id Name the agent." in text(line)


def test_a_file_that_is_too_large_is_refused_in_a_sentence(visit: Visit) -> None:
    line = send(visit("operator"), file("l.json", b" " * (33 * 1024 * 1024)), htmx=True)
    assert line.status_code == 413
    assert "A document may have at most 32 MB." in text(line)
    assert not Payload.objects.exists()
    assert not JournalFact.objects.exists()


def test_another_namespace_is_refused_at_its_line_and_audited(visit: Visit) -> None:
    line = send(visit("operator"), file("a.json", {"session_id": "a"}), htmx=True, namespace="x")
    assert line.status_code == 403
    later.flush()
    assert AuditEntry.objects.filter(action="session_import", outcome="denied").exists()


def test_who_may_not_import_gets_no_page_and_no_button(visit: Visit) -> None:
    assert visit("viewer").get("/sessions/import").status_code == 403
    assert "/sessions/import" not in html(visit("viewer").get("/sessions"))
    assert "/sessions/import" in html(visit("operator").get("/sessions"))


def test_the_page_has_its_labels(visit: Visit) -> None:
    page = html(visit("operator").get("/sessions/import"))
    assert "<h1>Import</h1>" in page
    assert '<label for="import-files">Files</label>' in page
