"""What went wrong with a provider, as a ModelError whose words name the setting, never the key."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from agentadmin.engine.clock import now
from agentadmin.engine.errors import ContextOverflow, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

_OVERFLOWS = (
    "context_length_exceeded",
    "context length",
    "context limit",
    "context window",
    "maximum context",
    "prompt is too long",
    "token limit",
    "too many tokens",
    "exceeds the model's maximum",
    "reduce the length",
    "request_too_large",
)
_RETRYABLE_STATUS = frozenset({408, 409, 425, 429})
_RETRYABLE_WORDS = ("overloaded", "rate_limit", "api_error", "server_error", "timeout", "unavail")
_EMPTY_PURSE = ("insufficient_quota", "billing_hard_limit", "credit balance")
_KEY_LIKE = re.compile(r"\b(sk|pk|key|xai|gsk|AIza|Bearer)[-_ ][A-Za-z0-9._*-]{6,}|AIza[\w-]{20,}")
MOST_DETAIL = 600
HIDDEN = "…"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request went, in words for errors; `key` is only there to be kept out of them."""

    provider: str
    model: str
    address: str
    key_name: str
    key: str | None

    def __repr__(self) -> str:
        return f"Place({self.provider}:{self.model})"

    @property
    def who(self) -> str:
        return f"{self.provider} ({self.address})"

    def clean(self, text: str) -> str:
        """The provider's own words without anything like a key, in one short line."""
        if self.key:
            text = text.replace(self.key, HIDDEN)
        text = " ".join(_KEY_LIKE.sub(HIDDEN, text).split())
        return text if len(text) <= MOST_DETAIL else f"{text[:MOST_DETAIL]}…"


def of_status(place: Place, status: int, headers: Mapping[str, str], body: Any) -> ModelError:
    """The error of an answer with a status of 300 or more."""
    words = place.clean(message_in(body))
    if overflows(words) or overflows(str(code_in(body))) or status == 413:
        return _overflow(place, words)
    if any(word in f"{code_in(body)} {words}" for word in _EMPTY_PURSE):
        return ModelError(f"{place.who} has no credit left for this key: {words}", retryable=False)
    said = f": {words}" if words else "."
    if status in _SENTENCES:
        return ModelError(_SENTENCES[status].format(place=place, said=said), retryable=False)
    retryable = status in _RETRYABLE_STATUS or status >= 500
    if headers.get("x-should-retry") == "false":
        retryable = False
    return ModelError(
        f"{place.who} answered {status}{said}",
        retryable=retryable,
        retry_after=retry_after(headers),
    )


_SENTENCES = {
    400: "{place.who} refused the request for {place.model}{said}",
    401: "{place.who} does not accept the key in {place.key_name}: set it to a valid one.",
    402: "{place.who} wants to be paid first{said}",
    403: "{place.who} does not let the key in {place.key_name} use {place.model}{said}",
    404: "{place.who} knows no model {place.model} at this base_url{said}",
    422: "{place.who} refused the request for {place.model}{said}",
}


def of_stream(place: Place, body: Any) -> ModelError:
    """The error that a server reports in the middle of its stream."""
    words, code = place.clean(message_in(body)), code_in(body)
    if isinstance(code, int) and code >= 300:
        return of_status(place, code, {}, body)
    if overflows(f"{code} {words}"):
        return _overflow(place, words)
    retryable = any(word in f"{code} {words}".lower() for word in _RETRYABLE_WORDS)
    return ModelError(f"{place.who} broke off: {words or code or 'no reason'}", retryable=retryable)


def of_connection(place: Place, error: BaseException) -> ModelError:
    """The error of a request that got no answer, or only half of one."""
    for cause in causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            detail = f"The certificate of {place.who} is not trusted: {cause.verify_message}."
            return ModelError(detail, retryable=False)
    last = list(causes(error))[-1]
    detail = place.clean(str(last)) or type(last).__name__
    return ModelError(f"The connection to {place.who} failed: {detail}", retryable=True)


def silent(place: Place, seconds: float) -> ModelError:
    """The error of a server that says nothing any more."""
    return ModelError(f"{place.who} was silent for {seconds:g} s.", retryable=True)


def cut_off(place: Place) -> ModelError:
    """The error of a stream that ended before the answer did."""
    return ModelError(f"{place.who} ended the stream before its answer.", retryable=True)


def spent(place: Place) -> ModelError:
    """The error of a model that used up its limit before it said anything."""
    detail = f"{place.who} reached the limit of tokens before it answered: raise max_tokens."
    return ModelError(detail, retryable=False)


def malformed(place: Place, what: str) -> ModelError:
    """The error of a stream that cannot be read."""
    return ModelError(f"{place.who} sent what cannot be read: {what}", retryable=True)


def no_key(place: Place) -> ModelError:
    """The error of a request that cannot be made."""
    detail = f"{place.who} needs a key: set the environment variable {place.key_name}."
    return ModelError(detail, retryable=False)


def overflows(text: str) -> bool:
    """Whether a provider's words say that the request was too long."""
    low = text.lower()
    return any(word in low for word in _OVERFLOWS)


def _overflow(place: Place, words: str) -> ContextOverflow:
    return ContextOverflow(f"The conversation is too long for {place.model}: {words}")


def message_in(body: Any) -> str:
    """The words of an error body, whatever its shape."""
    while isinstance(body, dict):
        inner = body.get("error") or body.get("message") or body.get("detail")
        if inner is None:
            return ""
        body = inner
    return body if isinstance(body, str) else "" if body is None else str(body)


def code_in(body: Any) -> Any:
    """The code or type of an error body; an HTTP status where it is a number."""
    if not isinstance(body, dict):
        return None
    inner = body.get("error")
    if isinstance(inner, dict):
        return code_in(inner)
    return body.get("code") or body.get("type") or body.get("status")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds a provider asks to wait, from any of the three ways to say it."""
    in_ms = _number(headers.get("retry-after-ms"))
    if in_ms is not None:
        return in_ms / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is None and text:
        try:
            seconds = (parsedate_to_datetime(text) - now()).total_seconds()
        except (ValueError, TypeError):
            return None
    return None if seconds is None else max(seconds, 0.0)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def causes(error: BaseException) -> list[BaseException]:
    """The error and what led to it, the newest first."""
    found: list[BaseException] = [error]
    while (cause := found[-1].__cause__ or found[-1].__context__) is not None and len(found) < 10:
        found.append(cause)
    return found
