"""The trace id of the request being served, for pages that a person may report."""

from django import template

from agentadmin import trace

register = template.Library()


@register.simple_tag
def trace_id() -> str:
    """Name the request, as its log lines and the `X-Trace-Id` header do."""
    return trace.trace_id()
