"""The export dialog: a format, what it would cost, and the file itself."""

from pathlib import Path

import pytest

from sessions_app.models import AgentThread
from sessions_app.selectors.sessions import session_threads
from sessions_app.services.importing import Import, import_state
from tests.pages.conftest import SYSTEM, Talk, Visit, address, html, new_thread, text

pytestmark = pytest.mark.django_db

FILE = Path(__file__).parent.parent / "data" / "agentscope-python" / "s03_parked_asking.json"


def bring() -> AgentThread:
    session = import_state(actor=SYSTEM, wanted=Import(document=FILE.read_bytes()))
    return session_threads(session)[0]


def test_an_untouched_session_is_downloaded_as_it_came(visit: Visit) -> None:
    thread, olga = bring(), visit("operator")
    dialog = olga.fragment(address(thread, "export"), format="agentscope-python")
    assert "The file goes out as it came in." in text(dialog)
    assert "<html" not in html(dialog)
    answer = olga.get(address(thread, "export/file"), format="agentscope-python")
    assert answer.content == FILE.read_bytes()
    assert answer["Content-Type"] == "application/json"
    disposition = answer["Content-Disposition"]
    assert (
        disposition == f'attachment; filename="{thread.session.session_id}.agentscope-python.json"'
    )
    assert answer["Export-Losses"] == "0"


def test_another_format_says_what_it_would_not_get(visit: Visit) -> None:
    page = visit("operator").get(address(bring(), "export"), format="agentscope-java")
    assert "What AgentScope for Java would not get" in text(page)
    assert '<h1 id="export-title">' in html(page)


def test_a_continued_session_is_downloaded_in_every_format(visit: Visit, talk: Talk) -> None:
    thread, olga = talk(new_thread(), '/tool calculator {"expression": "6*7"}'), visit("operator")
    for kind in ("native", "agentscope-java", "agentscope-python"):
        assert olga.get(address(thread, "export"), format=kind).status_code == 200
        answer = olga.get(address(thread, "export/file"), format=kind)
        assert answer.status_code == 200
        assert "42" in answer.content.decode()


def test_who_may_not_export_sees_no_button_and_gets_no_file(visit: Visit) -> None:
    thread = new_thread()
    viewer = visit("viewer")
    assert "/export" not in html(viewer.get(address(thread, "state")))
    assert viewer.get(address(thread, "export")).status_code == 403
    assert viewer.get(address(thread, "export/file")).status_code == 403
    assert visit("stranger").get(address(thread, "export/file")).status_code == 404


def test_an_unknown_format_is_refused_for_the_file(visit: Visit) -> None:
    answer = visit("operator").get(address(new_thread(), "export/file"), format="yaml")
    assert answer.status_code == 422
