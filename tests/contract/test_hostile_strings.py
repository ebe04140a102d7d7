"""Odd texts in every place that takes one: answered as documented, never by a 500."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from agentadmin.api import api
from agentadmin.openapi import operations
from tests.contract.world import World

pytestmark = pytest.mark.django_db(transaction=True)

DOCUMENT = json.loads(json.dumps(api.get_openapi_schema()))
HOSTILE = (
    "\0",
    "a\0b",
    " ",
    "\u202e\u2066gnirts",
    "x" * 5000,
    "\ud800",
    "'; DROP TABLE x; --",
    "%00%ff/../..",
    "9" * 40,
    "-1",
    "NaN",
    "%s{0}$(id)",
)
ENDLESS = {"streamEvents"}


def calls(document: Any) -> Any:
    """Every operation with one hostile text after the other in each of its places."""
    for method, path, operation in operations(document):
        if operation["operationId"] in ENDLESS:
            continue
        places = [each["name"] for each in operation["parameters"] if each["in"] != "header"]
        for text in HOSTILE:
            for place in [*places, *fields(document, operation)]:
                yield method, path, operation, place, text


def fields(document: Any, operation: Any) -> dict[str, Any]:
    """The fields of the body, each with its schema."""
    if "requestBody" not in operation:
        return {}
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    found: dict[str, Any] = schema.get("properties", {})
    return found


def escaped(text: str) -> str:
    """As bytes in an address; a lone surrogate becomes bytes that are no UTF-8."""
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def send(client: Client, world: World, call: Any) -> Any:
    """One call; what is not hostile in it names a row, or is plain text."""
    method, path, operation, place, text = call
    for each in operation["parameters"]:
        value = text if each["name"] == place else world.ids.get(each["name"], ["x"])[0]
        if each["in"] == "path":
            path = path.replace("{" + each["name"] + "}", escaped(value))
        elif each["in"] == "query" and each["name"] == place:
            path += f"?{place}={escaped(value)}"
    if "requestBody" not in operation:
        return client.generic(method.upper(), path)
    body = {
        name: text if name == place else world.ids.get(name, ["plain"])[0]
        for name in fields(DOCUMENT, operation)
        if name not in {"expected_version", "dry_run", "on_busy"} or name == place
    }
    return client.generic(method.upper(), path, json.dumps(body), "application/json")


def test_no_text_in_any_place_breaks_an_operation(world: World) -> None:
    client = Client(headers={"Authorization": f"Bearer {world.secret()}"})
    client.raise_request_exception = False
    faults = []
    for call in calls(DOCUMENT):
        answer = send(client, world, call)
        _, _, operation, place, text = call
        documented = str(answer.status_code) in operation["responses"]
        if answer.status_code >= 500 or not documented:
            name = operation["operationId"]
            faults.append(f"{name} {place}={text[:20]!r}: {answer.status_code}")
    assert faults == []
