"""The acts on messages and on the whole document: compact, redact, patch."""

from __future__ import annotations

from sessions_app.forms import NothingForm
from sessions_app.operation_forms import PatchForm, RedactForm
from sessions_app.pages.act_kind import ActKind

MESSAGE_KINDS = (
    ActKind(
        op="compact",
        form=NothingForm,
        title="Compact the working context of {name}",
        lead="The agent's own model writes a summary in place of the older messages. "
        "People can still read them.",
        button="Compact the working context",
        permission="sessions:clear",
        keep="Keep the messages",
        leaves_title="Leaves the working context",
        reasons=("The context is nearly full", "Asked by the owner"),
        tab="state",
        touches_messages=True,
        kept=(
            "the full history, for people",
            "the newest messages, and calls that wait",
            "rules, mode, tools, tasks and plan",
        ),
    ),
    ActKind(
        op="redact_message",
        form=RedactForm,
        title="Redact a message of {name}",
        lead="What it said is erased from the journal, every earlier version and the imported "
        "file. Nobody can bring it back.",
        button="Erase what it said",
        permission="sessions:redact",
        icon="eraser",
        danger=True,
        fields="sessions/_fields_redact.html",
        keep="Keep the message",
        leaves_title="Goes for good",
        reasons=("Personal data in a message", "A secret in a message", "Asked by the person"),
        tab="conversation",
        touches_messages=True,
        kept=(
            "who spoke, when, and which tools were called",
            "every proof: digests and the audit chain",
            "the other messages, summary, rules and tasks",
        ),
    ),
    ActKind(
        op="json_patch",
        form=PatchForm,
        title="Patch the state of {name}",
        lead="Steps of RFC 6902 on the raw document. The result has to be a state of this thread.",
        button="Apply the patch",
        permission="sessions:patch",
        danger=True,
        fields="sessions/_fields_patch.html",
        keep="Apply nothing",
        reasons=("Repair of a broken state", "Asked by the owner"),
        tab="state",
        touches_messages=True,
        kept=("everything that the patch does not name", "the full history, for people"),
    ),
)
