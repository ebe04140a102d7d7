"""The OpenAPI document: committed, complete, and true about refusals and security."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.core.management import call_command

from agentadmin.api import api
from agentadmin.engine.state.mutations import OPERATIONS
from agentadmin.openapi import operations

COMMITTED = Path(__file__).parent.parent / "data" / "openapi.json"
AGAIN = "The API has changed: run `.venv/bin/python manage.py openapi --write` and commit it."


@pytest.fixture(scope="module")
def document() -> Any:
    return json.loads(json.dumps(api.get_openapi_schema()))


def test_the_committed_document_is_the_one_that_the_routes_make(document: Any) -> None:
    assert document == json.loads(COMMITTED.read_text()), AGAIN


def test_the_command_prints_the_document(document: Any) -> None:
    out = StringIO()
    call_command("openapi", stdout=out)
    assert json.loads(out.getvalue()) == document


def test_every_operation_has_an_id_of_its_own_a_permission_and_a_sentence(document: Any) -> None:
    ids = [each["operationId"] for _, _, each in operations(document)]
    assert len(ids) == len(set(ids))
    assert [
        each["operationId"]
        for _, _, each in operations(document)
        if not each["x-permission"] or not each.get("description")
    ] == []


def test_every_good_answer_is_described_and_every_refusal_is_a_problem(document: Any) -> None:
    vague = []
    for _, _, operation in operations(document):
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                assert answer["$ref"].startswith("#/components/responses/")
            elif status not in {"204", "304"} and not answer.get("content"):
                vague.append(f"{operation['operationId']} {status}")
    assert vague == [], "declare `response={200: …}` on the route"
    for answer in document["components"]["responses"].values():
        assert list(answer["content"]) == ["application/problem+json"]


def test_every_operation_on_a_state_tells_its_fields_their_types_and_which_it_needs(
    document: Any,
) -> None:
    body = document["components"]["schemas"]["UpdateState"]["properties"]["operations"]
    told = {each["properties"]["op"]["const"]: each for each in body["items"]["oneOf"]}
    assert told.keys() == OPERATIONS.keys()
    for name, spec in OPERATIONS.items():
        fields = {k: v for k, v in told[name]["properties"].items() if k != "op"}
        assert fields.keys() == spec.fields, name
        assert all(each.keys() & {"type", "anyOf"} for each in fields.values()), name
    assert told["add_rule"]["required"] == ["op", "behavior", "tool_name", "source"]


def test_what_is_written_needs_the_csrf_token_of_a_session_or_a_bearer_token(document: Any) -> None:
    for method, _, operation in operations(document):
        if "security" in operation:
            by_session = {"session"} if method == "get" else {"session", "csrf"}
            assert [set(way) for way in operation["security"]] == [{"bearer"}, by_session]


def test_every_reference_and_every_schema_of_the_document_can_be_used(document: Any) -> None:
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for reference in _references(document):
        place = document
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]


def _references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [found for each in value for found in _references(each)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
    return own + [found for each in value.values() for found in _references(each)]
