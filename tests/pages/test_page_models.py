"""What pages compute without HTML: slices, timelines, steps, changes, one-line events."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agentadmin.engine.errors import InvalidInput, NotFound
from agentadmin.engine.journal.facts import Fact
from runs_app.pages.events import brief, hue_of
from runs_app.pages.timeline import timeline
from sessions_app.models import ControlRequest
from sessions_app.pages.audit import change_lines
from sessions_app.pages.slices import slice_at
from sessions_app.pages.steps import steps_of

START = datetime(2026, 12, 1, 12, tzinfo=UTC)


def fact(seconds: float, type_: str, **payload: Any) -> Fact:
    at = START + timedelta(seconds=seconds)
    return Fact(int(seconds * 10), type_, payload, "t", "r", None, True, at, 1, b"")


def test_a_slice_pages_through_a_long_list() -> None:
    found = slice_at({"a": [[n] for n in range(120)]}, "/a", 60)
    assert (found.start, found.end, found.total) == (50, 100, 120)
    assert next(iter(found.value)) == "50"
    assert "from=0" not in found.earlier
    assert "from=100" in found.later
    assert [link.label for link in found.crumbs] == ["state", "a"]


def test_a_pointer_escapes_slash_and_tilde() -> None:
    assert slice_at({"a/b": {"~": 7}}, "/a~1b/~0").value == 7
    with pytest.raises(NotFound):
        slice_at({"a": [1]}, "/a/1")
    with pytest.raises(NotFound):
        slice_at({"a": 1}, "/a/b")
    with pytest.raises(InvalidInput):
        slice_at({}, "a")


def test_a_timeline_has_a_bar_for_each_request_tool_and_wait() -> None:
    facts = [
        fact(0, "run/start"),
        fact(1, "request/prepared", model="m"),
        fact(3, "message/assistant"),
        fact(3, "interaction/requested", interaction_id="i", tool="order"),
        fact(8, "interaction/resolved", interaction_id="i", by={"name": "bob"}),
        fact(8, "tool/dispatch", call_id="c", tool="order"),
        fact(10, "tool/result", call_id="c"),
    ]
    shown = timeline(facts, START + timedelta(seconds=10))
    assert [(row.bar.css, row.bar.length) for row in shown.rows] == [
        ("b-model", 2),
        ("b-wait", 5),
        ("b-tool", 2),
    ]
    assert shown.rows[1].bar.detail == "waited for bob"
    assert (shown.rows[0].x, shown.rows[0].width) == ("10.00%", "20.00%")


def test_what_has_no_end_is_cut_off_with_the_run() -> None:
    facts = [fact(0, "run/start"), fact(1, "tool/dispatch", call_id="c", tool="order")]
    row = timeline(facts, START + timedelta(seconds=4)).rows[0]
    assert (row.bar.note, row.bar.css, row.bar.length) == ("no result", "b-bad", 3)


def test_a_clock_that_went_back_makes_no_negative_bar() -> None:
    facts = [fact(5, "request/prepared"), fact(1, "message/assistant")]
    shown = timeline(facts, START - timedelta(seconds=9))
    assert all(row.bar.start >= 0 <= row.bar.length for row in shown.rows)
    assert timeline([], START).rows == ()


def control(**moments: int) -> ControlRequest:
    given: dict[str, Any] = {k: START + timedelta(seconds=v) for k, v in moments.items()}
    return ControlRequest(kind="interrupt", requested_at=START, **given)


def test_a_control_waits_at_the_first_step_that_has_not_come() -> None:
    steps = steps_of(control(delivered_at=1), START + timedelta(seconds=3))
    assert [step["state"] for step in steps] == ["done", "done", "now", "next"]
    late = steps_of(control(delivered_at=1), START + timedelta(seconds=22))
    assert (late[2]["state"], late[2]["note"]) == ("late", "waiting 21 s")


def test_a_refused_control_ends_with_its_refusal() -> None:
    row = control(delivered_at=1, acknowledged_at=1, effective_at=1)
    row.state = "refused"
    assert steps_of(row, START)[-1]["state"] == "refused"


def test_a_change_is_lines_of_what_went_and_came() -> None:
    patch = {
        "permission": {
            "mode": {"before": "default", "after": "bypass"},
            "rules_added": [{"tool": "x"}],
            "rules_removed": [],
        },
        "summary": {"before": None, "after": "s"},
    }
    assert [(line.sign, line.text) for line in change_lines(patch)] == [
        ("", "/permission/mode"),
        ("-", "default"),
        ("+", "bypass"),
        ("", "/permission/rules_added"),
        ("+", '{"tool":"x"}'),
        ("", "/summary"),
        ("+", "s"),
    ]


@pytest.mark.parametrize(
    ("type_", "payload", "line", "hue"),
    [
        ("turn/failed", {"outcome": "error", "error": {"code": "x"}}, "error x", "bad"),
        ("tool/decision", {"behavior": "deny", "tool": "t", "because": "b"}, "DENY t b", "bad"),
        ("interaction/requested", {"kind": "question", "tool": "t"}, "question: t", "wait"),
        ("run/end", {"status": "lost", "reason": "gone"}, "lost gone", "bad"),
        ("from/elsewhere", {"a": 1}, '{"a":1}', ""),
        ("run/start", {}, "attempt 1 on a worker, admitted", ""),
        ("turn/suspended", {"wait": None}, "waiting for an answer", "wait"),
    ],
)
def test_a_fact_is_one_line(type_: str, payload: dict[str, Any], line: str, hue: str) -> None:
    made = fact(0, type_, **payload)
    assert (brief(made), hue_of(made)) == (line, hue)
