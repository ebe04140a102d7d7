"""The codec loses nothing and never falls over."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import pytest

from agentadmin.engine.errors import DecodeError, InvalidInput, TooDeep
from agentadmin.engine.state import codec
from agentadmin.engine.state.json_writer import COMPACT, write


@pytest.mark.parametrize(
    "text",
    [
        '"\\u0000"',
        "123456789012345678901234567890",
        "-9223372036854775809",
        "18446744073709551616",
        "-0.0",
        '"\\ud800"',
        '"a\\udc00b"',
        '{"b":1,"a":2}',
        '"漢字 \u2028 </script>/"',
        "25000.0",
        "1e+22",
        "NaN",
        "[Infinity,-Infinity,null]",
        "[" * 1000 + "]" * 1000,
        '{"a":' * 1000 + "1" + "}" * 1000,
    ],
)
def test_canonical_text_reads_and_writes_back_as_it_was(text: str) -> None:
    assert codec.dumps(codec.loads(text)) == text


def test_the_last_of_duplicate_keys_wins() -> None:
    assert codec.dumps(codec.loads('{"a":1,"b":2,"a":3}')) == '{"a":3,"b":2}'
    assert codec.dumps(codec.loads(f'{{"a":{10**30},"b":2,"a":3}}')) == '{"a":3,"b":2}'


def test_negative_zero_keeps_its_sign() -> None:
    assert str(codec.loads("-0.0")) == "-0.0"


@pytest.mark.parametrize("text", ["[" * 1001 + "]" * 1001, '[{"a":' * 501 + "1" + "}]" * 501])
def test_nesting_beyond_a_thousand_is_refused_by_name(text: str) -> None:
    with pytest.raises(TooDeep):
        codec.loads(text)


def test_a_million_brackets_are_refused_without_a_crash() -> None:
    with pytest.raises(TooDeep):
        codec.loads("[" * 1_000_000)


def test_brackets_inside_strings_are_not_nesting() -> None:
    value = ["[" * 5000, '\\"[{' * 500]
    assert codec.loads(codec.dumps(value)) == value


def test_many_shallow_brackets_are_no_depth() -> None:
    value = [[]] * 5000
    assert codec.loads(codec.dumps(value)) == value


def test_writing_too_deep_a_value_is_refused_by_name() -> None:
    value: list[object] = []
    for _ in range(1000):
        value = [value]
    with pytest.raises(TooDeep):
        codec.dumps(value)


def test_an_answer_may_wrap_a_document_of_every_legal_depth() -> None:
    deep: list[object] = []
    for _ in range(999):
        deep = [deep]
    text = codec.dumps({"items": [{"data": deep}]}, levels=codec.WRAPPED)
    assert codec.dumps(codec.loads(text, levels=codec.WRAPPED), levels=codec.WRAPPED) == text
    with pytest.raises(TooDeep):
        codec.loads(text)


def test_a_circular_value_is_refused_by_name() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(TooDeep):
        codec.dumps(value)


def test_a_broken_text_says_where() -> None:
    with pytest.raises(DecodeError, match="line 1 column 4"):
        codec.loads("[1,")


@pytest.mark.parametrize("text", ["", "nul", "{'a':1}", '"\\x"', "[1]x", '"\t"', "01"])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        codec.loads(text)


def test_a_number_beyond_a_double_is_refused_not_altered() -> None:
    with pytest.raises(DecodeError, match="1e400"):
        codec.loads('{"a":1e400}')


def test_an_integer_that_python_will_not_read_is_refused() -> None:
    with pytest.raises(DecodeError, match="too many digits"):
        codec.loads("9" * 5000)
    with pytest.raises(InvalidInput, match="too many digits"):
        codec.dumps(10**5000)


def test_bytes_that_are_not_utf8_are_refused_with_their_place() -> None:
    with pytest.raises(DecodeError, match="byte 2"):
        codec.loads(b'["\xff"]')


def test_bytes_and_text_read_alike() -> None:
    assert codec.loads('["é"]'.encode()) == codec.loads('["é"]') == ["é"]


def test_raw_surrogates_are_read_and_written_as_escapes() -> None:
    assert codec.dumps(codec.loads('"\ud800"')) == '"\\ud800"'
    assert codec.loads('"\ud83d\ude00"') == "😀"


def test_written_text_is_always_utf8() -> None:
    codec.dumps({"\ud800": ["\udfff x"]}).encode()


@pytest.mark.parametrize("value", [{1: "a"}, {"a": {2}}, object(), datetime.now(UTC), b"x"])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        codec.dumps(value)


def test_tuples_are_arrays_on_both_paths() -> None:
    assert codec.dumps((1, 2)) == "[1,2]"
    assert codec.dumps((1, 10**30)) == f"[1,{10**30}]"


def test_the_exact_writer_agrees_with_the_fast_one() -> None:
    value = {"a": [1, -0.0, 1e22, 1.5e-9, True, None, 'é\n\u0001\u007f\\"'], "b": {}, "c": [[]]}
    assert write(value, COMPACT) == codec.dumps(value)


def test_pretty_text_is_the_same_value_on_both_paths() -> None:
    value = {"a": [1, {"b": []}], "c": {}, "d": "x"}
    text = codec.pretty(value)
    assert json.loads(text) == value
    assert text == json.dumps(value, indent=2)
    assert codec.pretty([value, 10**30]) == json.dumps([value, 10**30], indent=2)


def test_a_commitment_is_over_salt_and_text() -> None:
    assert codec.commit_of(b"salt", "é") == hashlib.sha256(b"salt" + "é".encode()).hexdigest()
    assert codec.sha256("é") == codec.commit_of(b"", "é")
    assert len(codec.sha256("\ud800")) == 64


@pytest.mark.parametrize(
    "text",
    [
        '{"id":"1234567890123456789012abc","n":123456789012345678901234567890}',
        '["a12345678901234567890123456789",-123456789012345678901234567890]',
        '[1.12345678901234567890123,"9999999999999999999999",99999999999999999999]',
        "99999999999999999999",
        '{"a":\n99999999999999999999}',
        '"99999999999999999999"',
    ],
)
def test_long_numbers_are_exact_among_ids_of_many_digits(text: str) -> None:
    assert repr(codec.loads(text)) == repr(json.loads(text))
