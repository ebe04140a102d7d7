"""JSON of any shape and size is drawn within bounds, and what is left out is named."""

from typing import Any

import pytest

from sessions_app.templatetags.json_view import MAX_BYTES, MAX_DEPTH, MAX_NODES, render_json


def nested(depth: int) -> Any:
    value: Any = "bottom"
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


def test_keys_values_and_sizes_are_shown() -> None:
    html = render_json({"a": [1, 2.5, None, True], "b": "text", "c": {}})
    for part in ("{3 fields}", "[4 items]", ">1<", ">2.5<", ">null<", ">true<", "text", ">{}<"):
        assert part in html


@pytest.mark.parametrize("depth", [1_000, 5_000])
def test_deep_nesting_is_cut_and_never_overflows_the_stack(depth: int) -> None:
    html = render_json(nested(depth), "/raw")
    assert html.count("<details") == html.count("</details>") == MAX_DEPTH
    assert "deeper" in html
    assert 'href="/raw"' in html


def test_a_wide_value_stops_at_the_node_gate() -> None:
    html = render_json(list(range(100_000)))
    assert html.count("leaf") <= MAX_NODES + 1
    assert "more, not drawn" in html
    assert html.count("<details") == html.count("</details>")


def test_a_heavy_value_stops_at_the_byte_gate() -> None:
    html = render_json(["x" * 60_000] * 100)
    assert len(html) < MAX_BYTES + 70_000
    assert "more, not drawn" in html


def test_a_long_string_is_cut_with_its_size_and_hash() -> None:
    html = render_json("é" * 70_000, "/raw")
    assert "140.0" in html
    assert "sha256" in html
    assert html.count("é") == 2_000


def test_hostile_keys_and_values_are_escaped_and_named() -> None:
    html = render_json({"<b>": "</script>", "\ud800": "\u202e", "n": 10**5_000})
    html.encode()
    assert "<b>" not in html
    assert "</script>" not in html
    assert "U+D800" in html
    assert "U+202E" in html


@pytest.mark.parametrize("value", [None, True, 0, -0.0, 10**30, "", [], {}, 1e400])
def test_a_lone_value_is_drawn(value: Any) -> None:
    assert "leaf" in render_json(value)
