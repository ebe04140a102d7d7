"""The forms of the pages about runs; each says in its own words what is wrong with a field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from agentadmin.engine.errors import DecodeError, TooDeep
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_TEXT = 1_000_000
OUTCOMES = (
    ("success", "It happened"),
    ("error", "It failed"),
    ("interrupted", "It did not happen"),
)


class MessageForm(forms.Form):
    """What a person says to the agent; the request id makes a double click one message."""

    text = forms.CharField(
        strip=False, max_length=MAX_TEXT, error_messages={"required": "Write something first."}
    )
    request_id = forms.CharField(required=False, max_length=256)


class RespondForm(forms.Form):
    """An answer to a question, bound to the call that was shown."""

    decision = forms.ChoiceField(choices=[(d, d) for d in ("approve", "deny", "answer")])
    call_hash = forms.CharField(required=False, max_length=64)
    request_id = forms.CharField(required=False, max_length=256)
    reason = forms.CharField(required=False, max_length=2000)
    answer = forms.CharField(required=False, strip=False, max_length=MAX_TEXT)


class ArgumentsForm(forms.Form):
    """The arguments of a call, edited."""

    input = forms.CharField(
        strip=False, max_length=MAX_TEXT, error_messages={"required": "Enter the arguments."}
    )

    def clean_input(self) -> dict[str, Any]:
        """A JSON object, or what is wrong with it and where."""
        try:
            value = codec.loads(self.cleaned_data["input"])
        except (DecodeError, TooDeep) as error:
            raise forms.ValidationError(f"This is not JSON: {error.detail}") from None
        if not isinstance(value, dict):
            raise forms.ValidationError("Arguments are a JSON object: {…}")
        return value


class ReconcileForm(forms.Form):
    """What became of each call whose outcome is unknown."""

    reason = forms.CharField(
        max_length=2000, error_messages={"required": "Say how you know what happened."}
    )

    def __init__(self, call_ids: Iterable[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.call_ids = list(call_ids)
        for number in range(len(self.call_ids)):
            self.fields[f"state-{number}"] = forms.ChoiceField(choices=OUTCOMES)
            self.fields[f"output-{number}"] = forms.CharField(
                strip=False, max_length=MAX_TEXT, required=False
            )

    def results(self) -> dict[str, Any]:
        """As `reconcileTools` takes them."""
        given = self.cleaned_data
        return {
            call_id: {
                "state": given[f"state-{n}"],
                "output": given[f"output-{n}"] or dict(OUTCOMES)[given[f"state-{n}"]],
            }
            for n, call_id in enumerate(self.call_ids)
        }
