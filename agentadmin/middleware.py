"""A trace id and a count for every request; problem JSON for the framework's errors in the API."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

from agentadmin.logs import bound
from agentadmin.metrics.book import BOOK
from agentadmin.metrics.names import REQUEST_SECONDS, REQUESTS
from agentadmin.problems import framework_problem
from agentadmin.trace import start_trace

Handler = Callable[[HttpRequest], HttpResponse]
AsyncHandler = Callable[[HttpRequest], Awaitable[HttpResponse]]
API = "/api/"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _finish(request: HttpRequest, response: HttpResponse, trace: str, began: float) -> HttpResponse:
    if request.path.startswith(API):
        response = framework_problem(response)
    response.headers["X-Trace-Id"] = trace
    _count(request, response, began)
    return response


def _count(request: HttpRequest, response: HttpResponse, began: float) -> None:
    """By route, not by address: there are as many of those as there are sessions."""
    BOOK.start("web")
    found = request.resolver_match
    route = f"/{found.route}" if found is not None else "none"
    method = request.method if request.method in METHODS else "other"
    REQUESTS.add(str(method), route, str(response.status_code))
    REQUEST_SECONDS.observe(time.perf_counter() - began, str(method), route)


@sync_and_async_middleware
def trace(get_response: Any) -> Handler | AsyncHandler:
    """Start the request's trace and name it in the answer, whoever made that answer."""
    if iscoroutinefunction(get_response):

        async def asynchronous(request: HttpRequest) -> HttpResponse:
            began, trace = time.perf_counter(), start_trace(request.headers.get("X-Trace-Id", ""))
            with bound():
                return _finish(request, await get_response(request), trace, began)

        return asynchronous

    def synchronous(request: HttpRequest) -> HttpResponse:
        began, trace = time.perf_counter(), start_trace(request.headers.get("X-Trace-Id", ""))
        # What the request binds for its log lines ends with it.
        with bound():
            return _finish(request, get_response(request), trace, began)

    return synchronous
