"""The parts of a thread's page that are about runs: control bar, live cursor, names to choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import template

from runs_app.live_snapshot import page_cursor
from runs_app.pages.bar import control_bar as bar_of
from runs_app.profiles import PROFILES

if TYPE_CHECKING:
    from django.template import Context

    from runs_app.pages.bar import Bar
    from sessions_app.models import AgentThread

register = template.Library()
_BAR = "control_bar"


def _bar(context: Context) -> Bar:
    """The bar, computed once for a rendering."""
    held = context.render_context
    if _BAR not in held:
        held[_BAR] = bar_of(context["actor"], context["thread"])
    found: Bar = held[_BAR]
    return found


@register.simple_tag
def wire_cursor(thread: AgentThread) -> str:
    """The cursor of a page rendered from this row: before the blocks that are being written."""
    return page_cursor(thread, thread.head_seq)


@register.inclusion_tag("runs/_bar.html", takes_context=True)
def control_bar(context: Context) -> dict[str, Any]:
    """The buttons of the thread's header."""
    return {"bar": _bar(context)}


@register.inclusion_tag("runs/_why_not.html", takes_context=True)
def why_not(context: Context) -> dict[str, Any]:
    """Why buttons are off, beside them."""
    return {"reasons": _bar(context).reasons}


@register.inclusion_tag("runs/_names.html")
def agent_names() -> dict[str, Any]:
    """The agents that are defined here, for a field to offer."""
    return {"id": "agent-names", "names": PROFILES.ids()}


@register.inclusion_tag("runs/_names.html")
def tool_names(thread_agent: str = "") -> dict[str, Any]:
    """The tools of an agent, for a field to offer."""
    profile = PROFILES.get(thread_agent) if thread_agent else None
    names = [tool.name for tool in profile.agent.spec.toolkit] if profile else []
    return {"id": "tool-names", "names": names}
