"""The act that brings an earlier version of a state back."""

from __future__ import annotations

from sessions_app.forms import VersionForm
from sessions_app.pages.act_kind import ActKind

VERSION_KINDS = (
    ActKind(
        op="restore",
        form=VersionForm,
        title="Restore version {version} of {name}",
        lead="A new version is appended with the content of version {version}: its messages, "
        "permissions, tasks and plan. Nothing is erased.",
        button="Restore version {version}",
        permission="sessions:restore",
        icon="restore",
        keep="Keep the newest version",
        reasons=("Wrong turn taken", "Undo an edit", "Asked by owner"),
        tab="history",
        touches_messages=True,
        kept=(
            "every version, also the later ones",
            "the full history, for people",
            "the audit trail, and who the session is",
        ),
    ),
)
