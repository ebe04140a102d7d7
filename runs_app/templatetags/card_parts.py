"""Questions in a conversation: each at its call, the others below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import template

from runs_app.pages.items import Call

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.template import Context

    from runs_app.models import Interaction
    from runs_app.pages.approval import Card

register = template.Library()


def _with(context: Context, **more: Any) -> dict[str, Any]:
    """The few names that a card needs from the page around it."""
    names = ("csrf_token", "csp_nonce", "request", "frame", "thread")
    return {name: context[name] for name in names if name in context} | more


@register.inclusion_tag("runs/_card.html", takes_context=True)
def question_card(
    context: Context, asked: Interaction, cards: Mapping[str, Card] | None
) -> dict[str, Any]:
    """The card of one question."""
    return _with(context, card=(cards or {}).get(asked.id))


@register.inclusion_tag("runs/_cards.html", takes_context=True)
def stray_cards(
    context: Context, cards: Mapping[str, Card], items: Iterable[Any]
) -> dict[str, Any]:
    """The open questions whose call is not among the page's elements."""
    shown = {item.pending.id for item in items if isinstance(item, Call) and item.pending}
    return _with(context, cards=[card for id_, card in cards.items() if id_ not in shown])
