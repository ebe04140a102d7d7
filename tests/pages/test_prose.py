"""Messages are rendered by one function that lets nothing through."""

import pytest

from sessions_app.templatetags.prose import MAX_PARSED, MAX_SHOWN, render_markdown
from sessions_app.templatetags.rendered import RenderedCache

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    "![x](javascript:alert(1))",
    "<javascript:alert(1)>",
    '[x](https://a.example/"onmouseover="alert(1))',
    "`<b onclick=x>`",
    "```html\n<script>x</script>\n```",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_script_and_no_handler_comes_out_of_a_message(text: str) -> None:
    html = render_markdown(text)
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html.lower()
    assert "onmouseover=" not in html.replace("%22onmouseover", "")
    assert 'href="data:' not in html


def test_markdown_becomes_html_with_headings_below_the_pages_own() -> None:
    html = render_markdown("# Title\n\n**bold** `code`\n\n1. one\n2. two\n\n| a |\n|---|\n| 1 |")
    for part in ("<h4>Title</h4>", "<strong>bold</strong>", "<code>code</code>", "<ol>", "<td>1"):
        assert part in html


def test_a_link_is_followed_only_over_http_or_mail() -> None:
    html = render_markdown("[a](https://a.example/x) [b](mailto:a@b.example) [c](/sign-out)")
    assert html.count("<a href=") == 2
    assert 'rel="noopener noreferrer nofollow"' in html
    assert "link not followed" in html


def test_an_image_is_named_and_never_fetched() -> None:
    html = render_markdown("![chart](https://tracker.example/pixel.png)")
    assert "tracker.example/pixel.png" in html
    assert "src=" not in html


def test_hidden_characters_of_a_message_are_named() -> None:
    assert "U+202E" in render_markdown("fix\u202e.txt")
    assert "U+200B" in render_markdown("`a\u200bb`")


def test_joiners_that_a_script_or_an_emoji_needs_stay() -> None:
    assert "U+200C" not in render_markdown("می\u200cخواهم")
    assert "U+200D" not in render_markdown("👨\u200d👩")
    assert "U+200D" in render_markdown("pay\u200dpal")


@pytest.mark.parametrize("text", ["a\ud800b", "\x00", "[q](http://x/\udfff 't\ud801')", "\u2028"])
def test_what_utf8_cannot_carry_still_renders(text: str) -> None:
    assert render_markdown(text).encode()


@pytest.mark.parametrize("text", [">" * 5_000, "[" * 5_000, "*a" * 5_000, "`" * 5_000, "- " * 999])
def test_deep_or_unbalanced_markup_ends(text: str) -> None:
    assert render_markdown(text)


def test_a_very_long_text_is_shown_as_it_is_and_cut_with_a_count() -> None:
    assert render_markdown("*" * (MAX_PARSED + 1)).startswith('<pre class="out">')
    assert "1 characters not shown" in render_markdown("a" * (MAX_SHOWN + 1))


def test_the_cache_is_bounded_in_number_and_in_size() -> None:
    cache = RenderedCache(entries=3, size=10)
    for n in range(5):
        cache.put(bytes([n]), "abc")
    assert len(cache) == 3
    cache.put(b"big", "x" * 9)
    assert len(cache) == 1
    assert cache.get(b"big") == "x" * 9
    cache.put(b"huge", "x" * 11)
    assert len(cache) == 0


def test_putting_the_same_piece_twice_counts_once() -> None:
    cache = RenderedCache(entries=3, size=6)
    cache.put(b"a", "abc")
    cache.put(b"a", "abc")
    cache.put(b"b", "abc")
    assert cache.get(b"a") == "abc"
