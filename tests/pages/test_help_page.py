"""Keys, words and roles as the pages explain them: nothing that exists is left out."""

import re

import pytest
from django.conf import settings

from agentadmin import frame, keys
from agentadmin.access.permissions import PERMISSIONS, ROLES
from runs_app.pages.glossary import CHAPTERS, Chapter
from sessions_app.pages.frame import TABS
from sessions_app.templatetags.states import STATES
from tests.pages.conftest import Visit, html, text

TEMPLATES = settings.BASE_DIR / "templates"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.title)
def test_every_state_has_a_look_and_a_meaning(chapter: Chapter) -> None:
    names = {state.value for state in chapter.states}
    assert set(chapter.meanings) == names
    assert names <= STATES.keys()
    assert all(meaning.endswith(".") for _, meaning in chapter.entries)


def test_every_key_of_the_pages_is_on_the_sheet() -> None:
    marked = {
        key
        for path in TEMPLATES.rglob("*.html")
        for key in re.findall(r'data-key="(\w)"', path.read_text())
    }
    listed = {
        key for lines in (keys.EVERYWHERE, keys.SESSION) for line in lines for key in line.keys
    }
    assert marked <= listed


def test_no_two_places_have_the_same_key() -> None:
    letters = [place.go for group in frame.RAIL for place in group if place.go]
    assert len(letters) == len(set(letters))


@pytest.mark.django_db
def test_the_help_page_shows_keys_words_and_the_permission_table(visit: Visit) -> None:
    page = visit("viewer").get("/help")
    shown = text(page)
    assert all(chapter.title in shown for chapter in CHAPTERS)
    rows = re.findall(r"<tr><th scope=\"row\"><code>([\w:]+)</code>.*?</tr>", html(page))
    assert rows == list(PERMISSIONS)
    table = html(page).partition('id="help-roles"')[2]
    granted = sum(len(role.permissions) for role in ROLES.values())
    assert table.count(">yes<") == granted


@pytest.mark.django_db
def test_the_rail_and_the_sheet_show_only_what_one_may_open(visit: Visit) -> None:
    def places(name: str) -> set[str]:
        rail = html(visit(name).get("/help")).partition("</nav>")[0]
        return set(re.findall(r'href="(/[\w/]*)" title', rail))

    assert "/audit" in places("auditor")
    assert "/audit" not in places("viewer")
    assert "/admin/users" not in places("auditor")
    assert {"/sessions", "/approvals", "/me", "/me/tokens", "/help"} <= places("viewer")


def test_the_sheet_promises_as_many_tabs_as_a_session_has() -> None:
    tabs = next(line for line in keys.SESSION if line.does == "tabs")
    assert tabs.keys == ("1", str(len(TABS)))


@pytest.mark.django_db
def test_a_time_zone_that_is_not_is_refused_at_its_field(visit: Visit) -> None:
    olga = visit("operator")
    refused = olga.post("/preferences", zone="Mars/Base", next="/sessions")
    assert "zone" not in refused.cookies
    page = olga.get(refused["Location"].partition("#")[0])
    assert "There is no time zone of this name" in text(page)
    assert 'value="Mars/Base" aria-invalid="true"' in html(page)
    assert olga.post("/preferences", zone="Asia/Shanghai", next="/me")["Location"] == "/me"
    assert "There is no time zone" not in text(olga.get("/me"))
