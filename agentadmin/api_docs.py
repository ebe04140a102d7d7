"""The API's own documentation page: plain HTML of the schema, without a line of script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.template.response import TemplateResponse
from ninja.openapi.docs import DocsBase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.http import HttpRequest, HttpResponse
    from ninja import NinjaAPI

_METHODS = ("get", "post", "put", "patch", "delete")


class PlainDocs(DocsBase):
    """A page that a strict content security policy lets pass, and that reads without a network."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        """Every operation with its parameters, body and answers."""
        schema = api.get_openapi_schema(path_params=kwargs)
        context = {
            "title": api.title,
            "description": api.description,
            "schema_url": self.get_openapi_url(api, kwargs),
            "operations": list(_operations(schema)),
        }
        return TemplateResponse(request, "api_docs.html", context).render()


def _operations(schema: Any) -> Iterator[dict[str, Any]]:
    for path, item in schema["paths"].items():
        for method in _METHODS:
            if method in item:
                yield _operation(schema, method, path, item[method])


def _operation(schema: Any, method: str, path: str, said: Any) -> dict[str, Any]:
    content: dict[str, Any] = said.get("requestBody", {}).get("content", {})
    described: dict[str, Any] = next(iter(content.values()), {})
    body = described.get("schema")
    return {
        "id": said["operationId"],
        "method": method.upper(),
        "path": path,
        "summary": said.get("summary", ""),
        "description": said.get("description", ""),
        "parameters": [_parameter(each) for each in said.get("parameters", [])],
        "fields": _fields(schema, body) if body else [],
        "answers": [
            {"status": status, "description": _answer(schema, answer).get("description", "")}
            for status, answer in said.get("responses", {}).items()
        ],
    }


def _parameter(said: Any) -> dict[str, Any]:
    return {
        "name": said["name"],
        "place": said["in"],
        "required": said.get("required", False),
        "type": _type(said.get("schema", {})),
    }


def _answer(schema: Any, said: Any) -> dict[str, Any]:
    """An answer, which may be one that many operations share."""
    named = said.get("$ref", "").rpartition("/")[2]
    answer: dict[str, Any] = schema["components"]["responses"][named] if named else said
    return answer


def _fields(schema: Any, body: Any) -> list[dict[str, Any]]:
    named = body.get("$ref", "").rpartition("/")[2]
    model = schema.get("components", {}).get("schemas", {}).get(named, body)
    required = model.get("required", [])
    return [
        {
            "name": name,
            "required": name in required,
            "type": _type(field),
            "description": field.get("description", ""),
        }
        for name, field in model.get("properties", {}).items()
    ]


def _type(field: Any) -> str:
    if "anyOf" in field:
        return " or ".join(_type(each) for each in field["anyOf"])
    if "enum" in field:
        return " or ".join(map(str, field["enum"]))
    return str(field.get("type") or field.get("$ref", "").rpartition("/")[2] or "any JSON")
