"""Every character that a reader would not see is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.templatetags.hidden import (
    encodable,
    hidden_in,
    is_hidden,
    mark_hidden,
    mark_prose,
)

INVISIBLE = (
    "\u202e\u200b\u200d\ufeff\u2066\u00ad\u2028\u2029\x00\x1b\x7f\x85\ue000\ud800\u3164\u061c"
)


@pytest.mark.parametrize("char", INVISIBLE, ids=lambda c: f"U+{ord(c):04X}")
def test_an_invisible_character_becomes_a_badge(char: str) -> None:
    html = mark_hidden(f"a{char}b")
    assert f"U+{ord(char):04X}</span>" in html
    assert char not in html


@pytest.mark.parametrize("text", ["a\tb\nc", "客户反馈", "مراجعة", "naïve café", "🙂", "a b"])
def test_ordinary_text_has_no_badges(text: str) -> None:
    assert mark_hidden(text) == text


def test_markup_is_escaped() -> None:
    assert mark_hidden('<b a="1">&') == "&lt;b a=&quot;1&quot;&gt;&amp;"


def test_an_exact_text_names_even_the_joiner_of_an_emoji() -> None:
    assert "U+200D" in mark_hidden("👨\u200d👩")
    assert "U+200D" not in mark_prose("👨\u200d👩")


def test_the_findings_name_each_character_once_in_order() -> None:
    found = hidden_in("a\u202eb\u200bc\u202e")
    assert found == [("U+202E", "Right-to-left override"), ("U+200B", "Zero width space")]


@given(st.text(st.characters(), max_size=80))
def test_any_text_renders_encodes_and_hides_nothing(text: str) -> None:
    html = mark_hidden(text)
    html.encode()
    assert not any(is_hidden(char) for char in html)


@given(st.text(st.characters(exclude_categories=[]), max_size=40))
def test_any_text_can_be_made_encodable(text: str) -> None:
    encodable(text).encode()
