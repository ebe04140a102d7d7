"""No stored data makes a page blank, frozen or alive: hostile text, shapes, sizes, damage."""

import json
from html.parser import HTMLParser
from typing import Any

import pytest

from runs_app.pages.blocks import raw_blocks, shown_block
from runs_app.pages.conversation import conversation
from runs_app.pages.items import Call, Message
from sessions_app.models import AgentThread, JournalFact, StateSnapshot
from sessions_app.services.importing import Import, import_state
from tests.pages.conftest import SYSTEM, Talk, Visit, address, html, text

pytestmark = pytest.mark.django_db(transaction=True)

EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
CORPUS = (
    EVIL,
    "[x](javascript:alert(1)) [y](JaVaScRiPt:alert(1)) [z](data:text/html,<script>1</script>)",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe><svg/onload=alert(1)>",
    "![i](https://elsewhere.example/x.png) <https://elsewhere.example/>",
    "\u202e\u200b\ufeff\u2066 bidi and \x00 NUL \x1b[31m",
    "{% load x %}{{ settings.SECRET_KEY }}",
    "'; DROP TABLE x; --",
    "\ud800 lone",
    "# h\n\n|a|b|\n|-|-|\n|1|2|\n\n```js\n</code></pre><script>alert(1)</script>\n```",
)
TABS = ("conversation", "state", "permissions", "runs", "audit")


class Scanner(HTMLParser):
    """What would be alive in a page: elements and attributes that run or load something."""

    def __init__(self) -> None:
        super().__init__()
        self.alive: list[str] = []
        self.hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        own_script = tag == "script" and (given.get("src") or "").startswith("/static/")
        if (
            tag in {"script", "iframe", "object", "embed", "style", "img", "base"}
            and not own_script
        ):
            self.alive.append(tag)
        for name, value in attrs:
            target = (value or "").strip().lower()
            if name.startswith("on") or name in {"style", "srcdoc"}:
                self.alive.append(f"{tag} {name}")
            if name in {"href", "src", "action"} and target.startswith(
                ("javascript:", "data:text")
            ):
                self.alive.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        self.hidden += [c for c in data if c in "\u202e\u200b\ufeff\u2066\x00\x1b"]


def scanned(page: str) -> Scanner:
    scanner = Scanner()
    scanner.feed(page)
    return scanner


def message(id_: str, content: Any, role: str = "ASSISTANT", name: str = EVIL) -> dict[str, Any]:
    at = "2026-01-01 00:00:00.000"
    return {"id": id_, "name": name, "role": role, "content": content, "timestamp": at}


def hostile_state() -> dict[str, Any]:
    use = {"type": "tool_use", "id": "c1", "name": EVIL, "input": {EVIL: EVIL}, "state": "finished"}
    broken = {"type": "tool_use", "id": "c2", "name": "t", "input": {}, "content": '{"a": [1,'}
    output = [{"type": "text", "text": EVIL * 3000}, {"type": "video", "source": None}]
    result = {"type": "tool_result", "id": "c1", "name": EVIL, "output": output, "state": "success"}
    orphan = {"type": "tool_result", "id": "zz", "name": "o", "output": [], "state": "error"}
    unknown = {"type": EVIL, "payload": {EVIL: [EVIL]}}
    picture = {"type": "image", "source": {"type": "base64", "media_type": EVIL, "data": "A" * 99}}
    rule = {"tool_name": EVIL, "rule_content": EVIL, "behavior": "allow", "source": EVIL}
    return {
        "session_id": EVIL,
        "user_id": EVIL,
        "summary": EVIL,
        "context": [
            *(message(f"m{n}", [{"type": "text", "text": t}]) for n, t in enumerate(CORPUS)),
            message("k", [{"type": "thinking", "thinking": EVIL}, picture, unknown, use, broken]),
            message("r", [result], "TOOL"),
            message("o", [orphan], "TOOL"),
        ],
        "permission_context": {
            "mode": "default",
            "working_directories": {EVIL: {"path": EVIL, "source": EVIL}},
            "allow_rules": {EVIL: [rule]},
            "deny_rules": {},
            "ask_rules": {},
        },
        "tasks_context": {"tasks": [{"subject": EVIL, "description": EVIL, "owner": EVIL}]},
        "plan_mode_context": {"plan_active": True, "current_plan_file": EVIL},
        "future_field": {EVIL: EVIL},
    }


def imported(state: dict[str, Any]) -> AgentThread:
    made = import_state(actor=SYSTEM, wanted=Import(document=json.dumps(state)))
    return AgentThread.objects.select_related("session").get(session=made)


@pytest.mark.parametrize("tab", TABS)
def test_hostile_content_is_inert_on_every_tab(visit: Visit, tab: str) -> None:
    thread = imported(hostile_state())
    page = visit("operator").get(address(thread, tab))
    assert page.status_code == 200
    found = scanned(html(page))
    assert found.alive == []
    assert found.hidden == []
    assert "alert(1)" in text(page)


@pytest.mark.parametrize("query", [{"lens": "context"}, {"lens": "summary"}, {"before": "8"}])
def test_hostile_content_is_inert_through_every_lens(visit: Visit, query: dict[str, str]) -> None:
    page = visit("operator").get(address(imported(hostile_state())), **query)
    assert page.status_code == 200
    assert scanned(html(page)).alive == []


def test_hostile_words_are_inert_in_live_news_dialogs_and_lists(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    talk(thread, *(said for said in CORPUS if said.isprintable()), f"/echo {EVIL}")
    evil = imported(hostile_state())
    who = visit("operator")
    for page in (
        who.fragment(address(thread), after_seq=0),
        who.fragment(f"/threads/{evil.id}/act/clear_context"),
        who.fragment(f"/threads/{evil.id}/act/remove_rule", behavior="allow", tool_name=EVIL),
        who.post(f"/threads/{evil.id}/act/add_rule", htmx=True, behavior="x", tool_name=EVIL),
        who.get("/sessions", q=EVIL),
        who.get("/sessions"),
        who.get("/audit", q=EVIL),
        who.get("/audit"),
        who.post("/sessions/new", agent_id=EVIL * 9, session_id=EVIL, user_id=EVIL),
        who.get(f"/runs/{EVIL}"),
    ):
        assert page.status_code < 500
        assert scanned(html(page)).alive == []


def test_the_imported_call_is_paired_and_the_broken_one_says_so() -> None:
    items = conversation(imported(hostile_state())).items
    first, second = (item for item in items if isinstance(item, Call))
    assert first.result
    assert first.is_cut
    assert second.truncated == '{"a": [1,'
    assert any(
        block.note.startswith("result of")
        for item in items
        if isinstance(item, Message)
        for block in item.blocks
    )


def test_a_big_state_is_shown_in_bounds(visit: Visit) -> None:
    texts = [message(f"b{n}", [{"type": "text", "text": "x" * 40_000}]) for n in range(60)]
    state = hostile_state() | {"context": texts, "many": list(range(100_000)), "long": "y" * 10**6}
    thread = imported(state)
    for tab in ("conversation", "state", "permissions"):
        page = visit("operator").get(address(thread, tab))
        assert page.status_code == 200
        assert len(page.content) < 3_000_000, tab
    part = visit("operator").get(address(thread, "state"), pointer="/many", **{"from": "99950"})
    assert "99999" in text(part)
    assert "Later" not in text(part)


def test_deep_nesting_opens(visit: Visit) -> None:
    deep: dict[str, Any] = {}
    inner = deep
    for _ in range(900):
        inner["k"] = inner = {}
    thread = imported(hostile_state() | {"deep": deep})
    page = visit("operator").get(address(thread, "state"))
    assert page.status_code == 200
    assert "deeper" in text(page)


@pytest.mark.parametrize(
    "content", ["plain text", None, 7, [None, 7, "x"], {"type": "text"}, [{"type": "text"}], [{}]]
)
def test_content_of_any_shape_is_shown_as_something(content: Any) -> None:
    shown = [shown_block(block) for block in raw_blocks({"content": content})]
    assert all(block.kind for block in shown)


@pytest.mark.parametrize(
    ("tab", "says"),
    [
        ("conversation", "could not be decoded"),
        ("state", "cannot be read"),
        ("permissions", "cannot be read"),
        ("plan", "cannot be read"),
    ],
)
def test_damaged_rows_are_said_where_they_are_and_the_frame_stays(
    visit: Visit, thread: AgentThread, talk: Talk, tab: str, says: str
) -> None:
    talk(thread, "hello")
    JournalFact.objects.filter(type="message/assistant").update(payload='{"item":"x", broken')
    StateSnapshot.objects.update(substate="{broken")
    page = visit("operator").get(address(thread, tab))
    assert page.status_code == 200
    assert says in text(page)
    assert "act-interrupt" in html(page)


@pytest.mark.parametrize("name", ["x" * 256, "😀" * 200, "a/b?c#d", "..", "%00", "\u05d0\u202c"])
def test_odd_ids_have_pages(visit: Visit, name: str) -> None:
    if not name.isprintable():
        return
    state = hostile_state() | {"session_id": name, "user_id": name}
    thread = imported(state)
    for path in (f"/sessions/{thread.session_id}", address(thread, "state"), "/sessions"):
        assert visit("operator").get(path).status_code == 200
