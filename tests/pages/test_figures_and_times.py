"""Numbers, ages and times read as people write them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.template import Context, Template

from sessions_app.templatetags import figures, times
from sessions_app.templatetags.ids import halves

AT = datetime(2026, 12, 1, 12, 3, 20, 907_000, tzinfo=UTC)


def drawn(source: str, **context: Any) -> str:
    return Template("{% load figures times ids %}" + source).render(Context(context))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 ms"), (0.014, "14 ms"), (3.14, "3.1 s"), (87.2, "1 min 27 s"), (7500, "2 h 5 min"),
     (273_600, "3 d 4 h"), (-5, "0 ms"), (None, ""), ("x", "")],
)  # fmt: skip
def test_a_duration_is_said_in_at_most_two_units(seconds: Any, text: str) -> None:
    assert figures.duration(seconds).replace("\u00a0", " ") == text


@pytest.mark.parametrize(
    ("given", "text"), [(7, "7"), (999, "999"), (46_800, "46.8 k"), (1_200_000, "1.2 M")]
)
def test_a_count_is_shortened(given: int, text: str) -> None:
    assert figures.compact(given).replace("\u00a0", " ") == text


def test_sizes_and_amounts_keep_their_unit() -> None:
    assert figures.nbytes(412) == "412\u00a0B"
    assert figures.nbytes(1_900) == "1.9\u00a0kB"
    assert figures.cost(Decimal("0.42")) == "$0.42"
    assert figures.cost(0.0004) == "$0.0004"


@pytest.mark.parametrize(
    ("used", "window", "level"), [(0, 100, ""), (71, 100, "high"), (91, 100, "full"), (5, None, "")]
)
def test_the_gauge_warns_from_seventy_and_alarms_from_ninety(
    used: int, window: int | None, level: str
) -> None:
    html = drawn("{% gauge used window %}", used=used, window=window)
    assert f'class="gauge{" " + level if level else ""}"' in html
    assert "style=" not in html


def test_a_time_always_carries_its_zone() -> None:
    html = drawn("{% when at %}", at=AT)
    assert 'datetime="2026-12-01T12:03:20.907Z"' in html
    assert ">01 Dec 2026 12:03:20 UTC<" in html


def test_a_time_is_shown_in_the_readers_zone() -> None:
    html = drawn('{% when at "time" %}', at=AT, frame={"zone": "Asia/Shanghai"})
    assert ">20:03:20 CST<" in html
    assert 'datetime="2026-12-01T12:03:20.907Z"' in html


@pytest.mark.parametrize("zone", ["../../etc/passwd", "Nowhere/Land", "\x00", "x" * 500, ""])
def test_an_unknown_zone_is_utc(zone: str) -> None:
    assert times.zone_of(zone).key == "UTC"


def test_a_missing_or_malformed_time_is_no_time() -> None:
    assert "not yet" in drawn("{% when at %}", at=None)
    assert "not yet" in drawn("{% when at %}", at="yesterday")
    assert "12:03:20" in drawn("{% when at %}", at="2026-12-01T12:03:20Z")


@pytest.mark.parametrize(
    ("ago", "text"), [(0, "0 s"), (59, "59 s"), (1080, "18 min"), (7_300, "2 h"), (200_000, "2 d")]
)
def test_an_age_has_one_unit(ago: int, text: str) -> None:
    assert times.age_of(AT - timedelta(seconds=ago), AT).replace("\u00a0", " ") == text


def test_an_age_keeps_the_absolute_time_beside_it() -> None:
    html = drawn("{% age at %}", at=AT)
    assert "data-age" in html
    assert 'title="01 Dec 2026 12:03:20 UTC"' in html


def test_an_id_is_shortened_in_the_middle_and_copied_whole() -> None:
    whole = "01a2317c-1111-7222-8333-444455554f2c"
    html = drawn('{% short_id value copy=True label="run" %}', value=whole)
    assert halves(whole) == ("01a2317c", "4f2c")
    assert f'data-copy="{whole}"' in html
    assert f'aria-label="Copy run {whole}"' in html
    assert drawn("{% short_id value %}", value="s-001").count("s-001") == 1


def test_a_hostile_id_is_escaped_and_its_hidden_characters_named() -> None:
    html = drawn("{% short_id value copy=True %}", value='"><b>\u202e\ud800')
    html.encode()
    assert "<b>" not in html
    assert "U+202E" in html
