"""The text of a thread's plan, from the file in its workspace that the state names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions_app.journal.configured import agent_spec
from sessions_app.journal.rows import thread_ref

if TYPE_CHECKING:
    from agentadmin.engine.state.plan import PlanModeContext
    from sessions_app.models import AgentThread

MAX_BYTES = 64 * 1024


def plan_text(thread: AgentThread, plan: PlanModeContext) -> str | None:
    """At most 64 KiB of the plan; None where there is no such file within the workspace."""
    spec = agent_spec(thread.agent_id)
    folder = spec.workspace_of(thread_ref(thread).key) if spec else None
    name = plan.current_plan_file
    if folder is None or not name or "\0" in name:
        return None
    root = folder.resolve()
    try:
        path = (root / name).resolve()
        if root not in path.parents or not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", errors="replace")
    except OSError:
        # A name that no file system takes, or a file that nobody may read: it is not shown.
        return None
