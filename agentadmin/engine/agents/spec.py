"""AgentSpec: everything about an agent that is fixed when it is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentadmin.engine.identity import ThreadKey, check_id

if TYPE_CHECKING:
    from pathlib import Path

    from agentadmin.engine.agents.middleware import Middleware
    from agentadmin.engine.models.base import ChatModel
    from agentadmin.engine.runtime_context import RuntimeContext
    from agentadmin.engine.state.permissions import PermissionContext
    from agentadmin.engine.tools.toolkit import Toolkit

DEFAULT_MAX_ITERS = 10


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """Model, tools and defaults; no conversation is ever kept here."""

    name: str
    agent_id: str
    model: ChatModel
    toolkit: Toolkit
    sys_prompt: str
    max_iters: int
    default_session_id: str
    permission_context: PermissionContext
    initial_groups: tuple[str, ...]
    middleware: tuple[Middleware, ...]
    workspace: Path | None
    keep_partial_on_shutdown: bool = True
    answer_within: float | None = None
    """Seconds after which an unanswered question counts as denied; None waits for ever."""

    def thread_key(self, ctx: RuntimeContext) -> ThreadKey:
        """The thread that a context names; a blank session means the default one."""
        session_id = ctx.session_id or self.default_session_id
        return ThreadKey(
            check_id(ctx.namespace, "namespace"),
            ctx.user_id,
            check_id(session_id, "session_id"),
            self.agent_id,
            check_id(ctx.thread_id, "thread_id"),
        )

    def workspace_of(self, key: ThreadKey) -> Path | None:
        """A folder of the thread's own; the hash keeps odd ids out of paths."""
        return self.workspace / key.identity_hash()[:32] if self.workspace else None
