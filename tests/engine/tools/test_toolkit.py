"""Declaring tools: schemas from signatures, groups, and the check of a call."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state import codec
from agentadmin.engine.tools.context import ToolContext  # noqa: TC001 - read at run time
from agentadmin.engine.tools.executor import refusal
from agentadmin.engine.tools.schema import violations
from agentadmin.engine.tools.toolkit import Effect, Toolkit, tool


class Colour(StrEnum):
    RED = "red"


def paint(
    what: Annotated[str, "What to paint", {"minLength": 1}],
    context: ToolContext,
    colour: Colour = Colour.RED,
    coats: int = 1,
    mode: Literal["fast", "slow"] | None = None,
    notes: dict[str, list[float]] | None = None,
) -> str:
    """Paint something.

    More that a model need not read.
    """
    return what


def test_the_schema_comes_from_the_signature_and_leaves_the_context_out() -> None:
    made = tool(paint)
    assert made.description == "Paint something."
    assert made.parameters == {
        "type": "object",
        "properties": {
            "what": {"type": "string", "description": "What to paint", "minLength": 1},
            "colour": {"enum": ["red"]},
            "coats": {"type": "integer"},
            "mode": {"anyOf": [{"enum": ["fast", "slow"]}, {"type": "null"}]},
            "notes": {
                "anyOf": [
                    {
                        "type": "object",
                        "additionalProperties": {"type": "array", "items": {"type": "number"}},
                    },
                    {"type": "null"},
                ]
            },
        },
        "additionalProperties": False,
        "required": ["what"],
    }
    assert made.context_argument == "context"


def test_a_tool_counts_as_external_unless_it_says_otherwise() -> None:
    assert tool(paint).effect is Effect.EXTERNAL
    assert not tool(paint).read_only
    assert tool(effect="none")(paint).read_only
    assert not tool(effect="none", read_only=False)(paint).read_only


def test_types_without_a_json_form_are_refused_by_their_parameter() -> None:
    def odd(thing: object) -> str:
        return ""

    def many(*things: str) -> str:
        return ""

    with pytest.raises(InvalidInput, match="thing"):
        tool(odd)
    with pytest.raises(InvalidInput, match="things"):
        tool(many)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({}, "'what' is a required property"),
        ({"what": ""}, "what: '' should be non-empty"),
        ({"what": "x", "coats": "two"}, "coats: 'two' is not of type 'integer'"),
        ({"what": "x", "size": 1}, "'size' was unexpected"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], wrong: str) -> None:
    assert wrong in violations(tool(paint).schema_text, arguments)


def test_right_arguments_pass() -> None:
    assert violations(tool(paint).schema_text, {"what": "door", "coats": 2}) == ""


def test_groups_are_offered_only_where_a_state_activates_them() -> None:
    toolkit = Toolkit([tool(name="open")(paint), tool(name="locked", group="g")(paint)])
    assert set(toolkit.active(()).tools) == {"open"}
    assert set(toolkit.active(("g",)).tools) == {"open", "locked"}
    assert toolkit.active(()).digest != toolkit.active(("g",)).digest
    outcome = refusal(
        toolkit.active(()).get("locked"), "locked", {}, known="locked" in toolkit, truncated=False
    )
    assert outcome is not None
    assert (
        outcome.output[0].raw["text"] == "Error: Unauthorized tool call: 'locked' is not available"
    )


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="two tools"):
        Toolkit([paint, tool(name="paint")(paint)])


def test_schemas_are_json() -> None:
    assert codec.loads(codec.dumps(list(Toolkit([paint]).active(()).schemas)))
