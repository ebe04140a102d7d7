"""A trace id for every request, and problem JSON for the framework's own errors under /api/."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

from agentadmin.problems import framework_problem
from agentadmin.trace import start_trace

Handler = Callable[[HttpRequest], HttpResponse]
AsyncHandler = Callable[[HttpRequest], Awaitable[HttpResponse]]
API = "/api/"


def _finish(request: HttpRequest, response: HttpResponse, trace: str) -> HttpResponse:
    if request.path.startswith(API):
        response = framework_problem(response)
    response.headers["X-Trace-Id"] = trace
    return response


@sync_and_async_middleware
def trace(get_response: Any) -> Handler | AsyncHandler:
    """Start the request's trace and name it in the answer, whoever made that answer."""
    if iscoroutinefunction(get_response):

        async def asynchronous(request: HttpRequest) -> HttpResponse:
            trace = start_trace(request.headers.get("X-Trace-Id", ""))
            return _finish(request, await get_response(request), trace)

        return asynchronous

    def synchronous(request: HttpRequest) -> HttpResponse:
        trace = start_trace(request.headers.get("X-Trace-Id", ""))
        return _finish(request, get_response(request), trace)

    return synchronous
