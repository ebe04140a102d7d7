"""The frame: rail, top bar, themes, error pages, the action dialog, and a strict policy."""

import gzip
import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.middleware.csp import ContentSecurityPolicyMiddleware
from django.shortcuts import render
from django.template.loader import render_to_string
from django.test import Client, RequestFactory

from agentadmin import frame

TEMPLATES = settings.BASE_DIR / "templates"
ACT: dict[str, Any] = {
    "url": "/act",
    "cancel_url": "/back",
    "cancel_label": "Keep context",
    "title": "Clear working context of s-001",
    "lead": "People can still read the messages.",
    "button": "Clear working context of s-001",
    "danger": True,
    "leaves": ["37 messages"],
    "stays": ["12 rules"],
    "patch": '[{"op":"replace","path":"/context","value":[]}]',
    "version": 41,
    "reason": "draft <kept>",
    "templates": ["Stuck in a loop"],
    "hidden": [("operations", '[{"op":"clear_context"}]')],
}


def page(template: str, *, cookies: str = "", **context: Any) -> tuple[str, HttpResponse]:
    request = RequestFactory().get("/sessions", headers={"cookie": cookies})
    request.user = SimpleNamespace(
        is_authenticated=True, get_full_name=lambda: "", get_username=lambda: "bob.tanaka"
    )
    policy = ContentSecurityPolicyMiddleware(lambda r: render(r, template, context))
    response = policy(request)
    return response.content.decode(), response


def test_no_template_has_an_inline_script_style_or_handler() -> None:
    wrong = re.compile(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\bsrc=)", re.IGNORECASE)
    found = [str(p) for p in TEMPLATES.rglob("*.html") if wrong.search(p.read_text())]
    assert found == []


def test_no_comment_of_a_template_leaks_into_the_page() -> None:
    spread = [
        str(path)
        for path in TEMPLATES.rglob("*.html")
        for line in path.read_text().splitlines()
        if line.count("{#") != line.count("#}")
    ]
    assert spread == []


def test_the_theme_comes_from_the_server_and_only_known_values_do() -> None:
    assert '<html lang="en" data-theme="dark"' in page("base.html", cookies="theme=dark")[0]
    assert "data-theme" not in page("base.html", cookies='theme="><script>')[0]


def test_the_scripts_nonce_is_the_policys_and_the_bodys() -> None:
    html, response = page("base.html")
    nonce = re.search(r'<script type="module" [^>]*nonce="([^"]+)"', html)
    assert nonce
    assert f"'nonce-{nonce[1]}'" in response["Content-Security-Policy"]
    assert f'<body hx-nonce="{nonce[1]}" hx-headers:inherited=' in html


def test_a_fragment_carries_the_nonce_of_its_own_answer() -> None:
    html, response = page("_dialog.html", act=ACT)
    nonce = re.search(r'hx-nonce="([^"]+)"', html)
    assert nonce
    assert f"'nonce-{nonce[1]}'" in response["Content-Security-Policy"]


def test_the_user_menu_signs_out_by_post() -> None:
    html = page("base.html")[0]
    assert re.search(r'<form method="post" action="/sign-out">.*?Sign out', html, re.DOTALL)
    assert ">BT<" in html


def test_the_rail_shows_only_pages_that_exist_and_marks_the_current_one() -> None:
    assert all(place.url for group in frame.rail() for place in group)
    html = page("base.html", nav="sessions")[0]
    assert html.count('aria-current="page"') == sum(
        place.key == "sessions" for group in frame.rail() for place in group
    )


def test_a_phone_finds_every_other_page_under_more() -> None:
    html = page("base.html")[0]
    menu = html.partition('<li class="more">')[2].partition("</li>")[0]
    places = [place for group in frame.rail() for place in group]
    assert {place.key for place in places if place.phone} >= {"sessions", "approvals", "audit"}
    for place in places:
        assert (f'href="{place.url}"' in menu) is not place.phone


@pytest.mark.parametrize(
    ("name", "letters"), [("bob.tanaka", "BT"), ("Bob Tanaka", "BT"), ("bob", "BO"), ("", "?")]
)
def test_initials_are_two_letters(name: str, letters: str) -> None:
    assert frame.initials(name) == letters


@pytest.mark.parametrize("code", [403, 404, 500])
def test_an_error_page_stands_alone_and_names_the_request(code: int) -> None:
    html = render_to_string(f"{code}.html")
    assert "request" in html
    assert "<h1>" in html
    assert "script" not in html


def test_a_button_shortens_an_id_that_the_title_has_whole() -> None:
    long = "0190a6e2-0000-7000-8000-000000001234"
    html = page("_dialog.html", act={**ACT, "title": f"Erase {long}", "button": f"Erase {long}"})[0]
    assert html.count(f"Erase {long}") == 1
    assert "Erase 0190a6e2…1234" in html


def test_the_dialog_asks_for_a_reason_and_names_its_act_twice() -> None:
    html = page("_dialog.html", act=ACT)[0]
    assert html.count("Clear working context of s-001") == 2
    assert 'required minlength="10" maxlength="2000"' in html
    assert "draft &lt;kept&gt;" in html
    assert 'name="expected_version" value="41"' in html
    assert html.index("autofocus") < html.index('class="btn danger"')
    assert "act-password" not in html


def test_the_dialog_as_a_page_is_open_and_works_without_scripts() -> None:
    html = page("dialog_page.html", act=ACT)[0]
    form = html[html.index('id="act"') : html.index("</dialog>")]
    assert "open>" in form
    assert 'action="/act"' in form
    assert "hx-post" not in form


def test_a_newer_version_keeps_the_draft_and_says_what_moved() -> None:
    stale = {"was": 41, "now": 42, "text": "mina edited the todo list."}
    html = page("_dialog.html", act=ACT | {"version": 42, "stale": stale, "step_up": True})[0]
    assert "Version 41 has moved to 42." in html
    assert "draft &lt;kept&gt;" in html
    assert 'id="act-password"' in html


@pytest.mark.parametrize(
    ("sent", "kept"),
    [({"theme": "dark"}, "dark"), ({"theme": "system"}, "system"), ({"theme": "pink"}, None)],
)
def test_a_preference_is_a_cookie_and_only_known_values_are_kept(
    client: Client, sent: dict[str, str], kept: str | None
) -> None:
    response = client.post("/preferences", {"next": "/sign-in", **sent})
    assert (response.status_code, response["Location"]) == (302, "/sign-in")
    cookie = response.cookies.get("theme")
    assert (cookie.value if cookie else None) == kept


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "javascript:x"])
def test_preferences_never_lead_to_another_site(client: Client, target: str) -> None:
    assert client.post("/preferences", {"next": target})["Location"] == "/"


def test_the_bundles_keep_their_budget() -> None:
    dist = settings.BASE_DIR / "static" / "dist"
    if not (dist / "manifest.json").is_file():
        pytest.skip("the front end is not built")
    names = json.loads((dist / "manifest.json").read_text())
    sizes = {name: len(gzip.compress((dist / file).read_bytes())) for name, file in names.items()}
    assert sizes["app.js"] <= 45_000
    assert sizes["app.css"] <= 20_000
