"""What the import page asks: as what the files come in, and whose permissions count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms

from agentadmin.engine.state.interop import Format
from sessions_app.forms import MAX_ID
from sessions_app.services.importing import DEFAULT_AGENT, FROM_AGENT, FROM_FILE, Import
from sessions_app.services.sessions import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from sessions_app.services.documents import Given

AUTO = "auto"
FORMATS = (
    (AUTO, "found out from the file"),
    (Format.NATIVE.value, "AgentAdmin"),
    (Format.JAVA.value, "AgentScope for Java"),
    (Format.PYTHON.value, "AgentScope for Python"),
)


def _id(label: str, *, required: bool = False, initial: str = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=MAX_ID,
        required=required,
        initial=initial,
        strip=False,
        error_messages={"required": f"Name the {label.lower()}."},
    )


class ImportForm(forms.Form):
    """Everything but the files, which are read one by one."""

    namespace = _id("Namespace", required=True, initial=DEFAULT_NAMESPACE)
    agent_id = _id("Agent", required=True, initial=DEFAULT_AGENT)
    user_id = _id("User")
    session_id = _id("Session id")
    format = forms.ChoiceField(label="Format", choices=FORMATS, required=False)
    permissions = forms.ChoiceField(
        label="Permissions",
        choices=((FROM_FILE, "the file’s"), (FROM_AGENT, "the agent’s")),
        required=False,
        initial=FROM_FILE,
    )
    widen = forms.BooleanField(required=False)
    """Whether the file's permissions are kept where they allow more than the agent's."""
    pasted = forms.CharField(required=False, strip=False)

    def wanted(self, document: bytes | str | Given) -> Import:
        """The import of one document with what was filled in; empty means the file's."""
        given = self.cleaned_data
        return Import(
            document=document,
            format=given["format"] or AUTO,
            namespace=given["namespace"],
            agent_id=given["agent_id"],
            user_id=given["user_id"] or None,
            session_id=given["session_id"] or None,
            permissions=given["permissions"] or FROM_FILE,
        )
