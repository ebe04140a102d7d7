"""Bodies of the API: JSON read by the engine's codec, within the contract's limits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.core.exceptions import RequestDataTooBig
from ninja.errors import HttpError
from ninja.parser import Parser

from agentadmin.engine.errors import TooDeep, TooLarge
from agentadmin.engine.state import codec
from agentadmin.engine.state.json_writer import MAX_DEPTH

if TYPE_CHECKING:
    from django.http import HttpRequest

MAX_BYTES = 32 * 1024 * 1024
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


class CodecParser(Parser):
    """Ninja's parser of bodies, so that big integers and odd characters reach the services."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body's value. Ninja wraps what is raised here; `api_errors` unwraps it again."""
        if request.content_type != "application/json":
            raise HttpError(415, "Send JSON with the content type application/json.")
        data = body_of(request)
        try:
            return codec.loads(data)
        except TooDeep as error:
            raise error.under(deep_field(data)) from None


def body_of(request: HttpRequest) -> bytes:
    """The body, refused when it is larger than the contract allows."""
    try:
        data = request.body
    except RequestDataTooBig:
        data = b""
        too_big = True
    else:
        too_big = len(data) > MAX_BYTES
    if too_big:
        raise TooLarge("A body may have at most 32 MB.", path="body")
    return data


def deep_field(data: bytes) -> str:
    """The top-level field below which a body nests too deeply."""
    depth, field = 0, "body"
    for found in _TOKENS.finditer(data):
        token = found[0]
        if token in b"[{":
            depth += 1
        elif token in b"]}":
            depth -= 1
        elif depth == 1:
            field = token[1:-1].decode("utf-8", "replace")
        if depth > MAX_DEPTH:
            break
    return field
