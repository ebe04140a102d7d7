"""The OpenAPI document: what Ninja derives, plus refusals, security and permissions.

Every operation may refuse with a problem; which statuses it knows follows from what it takes, so
that no route has to list them. What a route declares itself is left as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured
from ninja import NinjaAPI
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema

from agentadmin.access.routes import permission_of
from agentadmin.api_schemas import Problem
from agentadmin.problems import CONTENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ninja.types import DictStrAny

METHODS = ("get", "post", "put", "patch", "delete")
_WRITES = {"post", "put", "patch", "delete"}
# Parameters that name a row, and those that say where a list goes on.
_NAMES = {"thread_id"}
_PLACES = {"cursor", "after"}

REFUSALS = {
    400: ("BadRequest", "The request cannot be read: no JSON, no reason, a wrong cursor."),
    401: ("NotAuthenticated", "Nobody is signed in, or the token is not valid."),
    403: ("Forbidden", "The caller lacks the permission that `detail` names."),
    404: ("NotFound", "There is no such thing, or not for this caller."),
    409: ("Conflict", "The state of things forbids it now; `code` says why."),
    413: ("TooLarge", "A body may have at most 32 MB."),
    415: ("UnsupportedMediaType", "Bodies are JSON."),
    422: ("InvalidInput", "A field is wrong; `path` names it."),
    429: ("RateLimited", "Too many requests; `Retry-After` says when to come back."),
    500: ("InternalError", "A fault of the server; its log has it by the `trace_id`."),
    503: ("Unavailable", "Not now: the thread has moved, or the server shuts down."),
}
SECURITY: dict[str, Any] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API token, `aa_…`: `manage.py create_token`, or the page Tokens.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "sessionid",
        "description": "The cookie of a browser that has signed in.",
    },
    "csrf": {
        "type": "apiKey",
        "in": "header",
        "name": "X-CSRFToken",
        "description": "The value of the cookie `csrftoken`, with every write by session.",
    },
}


class Document(OpenAPISchema):
    """Ninja's document, which would silently let the last of two schemas of one name win."""

    def add_schema_definitions(self, definitions: DictStrAny) -> None:
        """Refuse another schema under a name that is taken."""
        for name, schema in definitions.items():
            if self.schemas.setdefault(name, schema) != schema:
                raise ImproperlyConfigured(f"Two schemas of the API are called {name}.")


class DocumentedAPI(NinjaAPI):
    """An API whose document tells what the product does around each operation."""

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: DictStrAny | None = None
    ) -> OpenAPISchema:
        """Ninja's document, completed."""
        prefix = self.get_root_path(path_params or {}) if path_prefix is None else path_prefix
        document = Document(self, prefix)
        complete(document, dict(self._permissions()))
        return document

    def _permissions(self) -> Iterator[tuple[str, str | None]]:
        for router in self._get_bound_routers():
            for view in router.path_operations.values():
                for each in view.operations:
                    name = each.operation_id or self.get_openapi_operation_id(each)
                    yield name, permission_of(each.view_func)


def complete(document: Any, permissions: dict[str, str | None]) -> None:
    """Add what every operation has: its refusals, its security, the permission it needs."""
    for method, path, operation in operations(document):
        _plain_parameters(operation)
        if operation.pop("security", None) is not None:
            operation["security"] = _security(method)
        operation["x-permission"] = permissions.get(operation["operationId"])
        for status in refusals(method, path, operation):
            name, _ = REFUSALS[status]
            answer = {"$ref": f"#/components/responses/{name}"}
            operation["responses"].setdefault(status, answer)
    components = document["components"]
    components["securitySchemes"] = SECURITY
    components["schemas"]["Problem"] = Problem.model_json_schema(ref_template=REF_TEMPLATE)
    components["responses"] = {
        name: _problem_response(said, retry=status == 429)
        for status, (name, said) in REFUSALS.items()
    }


def operations(document: Any) -> Iterator[tuple[str, str, Any]]:
    """Method, path and description of every operation."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield method, path, item[method]


def refusals(method: str, path: str, operation: Any) -> list[int]:
    """The statuses with which an operation may refuse, by what it takes."""
    names = {parameter["name"] for parameter in operation["parameters"]}
    body, writes = "requestBody" in operation, method in _WRITES
    applies = {
        400: body or bool(names & _PLACES),
        401: "security" in operation,
        403: "security" in operation,
        404: "{" in path or bool(names & _NAMES) or body,
        # Also reads: of what was erased, and behind a cursor that is ahead of the thread.
        409: writes or "{" in path or "after" in names,
        413: body,
        415: body,
        422: body or bool(names),
        429: True,
        500: True,
        503: writes,
    }
    return [status for status, known in applies.items() if known]


def _security(method: str) -> list[dict[str, list[str]]]:
    by_session: dict[str, list[str]] = {"session": []}
    if method in _WRITES:
        by_session["csrf"] = []
    return [{"bearer": []}, by_session]


def _problem_response(said: str, *, retry: bool) -> dict[str, Any]:
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    answer: dict[str, Any] = {"description": said, "content": content}
    if retry:
        seconds = {"schema": {"type": "integer", "minimum": 1}, "description": "Seconds to wait"}
        answer["headers"] = {"Retry-After": seconds}
    return answer


def _plain_parameters(operation: Any) -> None:
    """A parameter that is left out is not there; no caller can send a null in an address."""
    for parameter in operation["parameters"]:
        schema = parameter["schema"]
        choices = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
        if len(choices) == 1:
            del schema["anyOf"]
            schema |= choices[0]
