"""Long answers of synchronous code, sent piece by piece without holding up the event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


def file_response(
    pieces: Iterator[bytes], *, content_type: str, name: str
) -> StreamingHttpResponse:
    """A file to save, made while it is sent."""
    response = StreamingHttpResponse(_sent(pieces), content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


async def _sent(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    step = sync_to_async(_next)
    while (piece := await step(pieces)) is not None:
        yield piece


def _next(pieces: Iterator[bytes]) -> bytes | None:
    """A StopIteration cannot cross an await."""
    return next(pieces, None)
