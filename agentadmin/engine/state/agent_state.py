"""AgentState: everything that is durable about one agent's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.identity import MAIN_THREAD, new_hex
from agentadmin.engine.messages import Msg
from agentadmin.engine.state import codec
from agentadmin.engine.state.permissions import PermissionContext
from agentadmin.engine.state.plan import PlanModeContext
from agentadmin.engine.state.reading import Raw, Reader
from agentadmin.engine.state.tasks import TasksContext
from agentadmin.engine.state.tool_context import ToolContext

if TYPE_CHECKING:
    from collections.abc import Iterable

SUMMARY_BLOCKS = "summary_blocks"
"""The unknown field that keeps the blocks of a summary that came as blocks."""

_FIELDS = frozenset(
    {
        "session_id",
        "user_id",
        "thread_id",
        "summary",
        "context",
        "reply_id",
        "cur_iter",
        "shutdown_interrupted",
        "permission_context",
        "tool_context",
        "tasks_context",
        "plan_mode_context",
    }
)


class AgentState:
    """A mutable state. Its parts are not: changing one means assigning another one."""

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __init__(self, session_id: str, user_id: str | None, thread_id: str) -> None:
        self._identity = (session_id, user_id, thread_id)
        self._summary = ""
        self._context: list[Msg] = []
        self._reply_id = new_hex()
        self.cur_iter = 0
        self.shutdown_interrupted = False
        self._permission_context = PermissionContext()
        self.tool_context = ToolContext()
        self.tasks_context = TasksContext()
        self.plan_mode_context = PlanModeContext()
        self.extra: Raw = {}

    @classmethod
    def new(
        cls,
        session_id: str | None = None,
        user_id: str | None = None,
        thread_id: str = MAIN_THREAD,
        permission_context: PermissionContext | None = None,
    ) -> Self:
        state = cls(session_id or new_hex(), user_id, thread_id)
        if permission_context is not None:
            state.permission_context = permission_context
        return state

    # Identity never changes in place.

    @property
    def session_id(self) -> str:
        return self._identity[0]

    @property
    def user_id(self) -> str | None:
        return self._identity[1]

    @property
    def thread_id(self) -> str:
        return self._identity[2]

    def with_identity(
        self, session_id: str, user_id: str | None, thread_id: str = MAIN_THREAD
    ) -> AgentState:
        """A copy under another identity, as import and fork need it."""
        state = self.copy()
        state._identity = (session_id, user_id, thread_id)
        return state

    @property
    def context(self) -> tuple[Msg, ...]:
        """The working context, as a view that cannot be changed."""
        return tuple(self._context)

    def context_mutable(self) -> list[Msg]:
        """The live list itself."""
        return self._context

    def set_context(self, messages: Iterable[Msg]) -> None:
        self._context = list(messages)

    @property
    def summary(self) -> str:
        return self._summary

    @summary.setter
    def summary(self, value: str | None) -> None:
        self._summary = value or ""
        self.extra.pop(SUMMARY_BLOCKS, None)  # they say what the old text said

    def set_summary(self, value: str | None) -> None:
        self.summary = value

    @property
    def reply_id(self) -> str:
        return self._reply_id

    @reply_id.setter
    def reply_id(self, value: str | None) -> None:
        self._reply_id = new_hex() if value is None else value

    @property
    def permission_context(self) -> PermissionContext:
        return self._permission_context

    @permission_context.setter
    def permission_context(self, value: PermissionContext) -> None:
        if not isinstance(value, PermissionContext):
            raise InvalidInput("a permission context is needed", path="permission_context")
        self._permission_context = value

    def copy(self) -> AgentState:
        """A state of its own; the immutable parts are shared."""
        twin = AgentState(*self._identity)
        twin.__dict__.update(self.__dict__)
        twin._context = list(self._context)
        twin.extra = dict(self.extra)
        return twin

    def assume(self, other: AgentState) -> None:
        """Become equal to another state in everything but the identity.

        The list of messages stays the same object: a running loop may hold on to it.
        """
        identity, messages = self._identity, self._context
        self.__dict__.update(other.copy().__dict__)
        messages[:] = self._context
        self._identity, self._context = identity, messages

    # The wire: field order is AgentScope's.

    def substates(self) -> Raw:
        """Everything except the messages, by wire name: what a snapshot stores."""
        session_id, user_id, thread_id = self._identity
        raw: Raw = {"session_id": session_id, "user_id": user_id}
        if thread_id != MAIN_THREAD:
            raw["thread_id"] = thread_id
        raw |= {
            "summary": self.summary,
            "reply_id": self.reply_id,
            "cur_iter": self.cur_iter,
            "shutdown_interrupted": self.shutdown_interrupted,
            "permission_context": self.permission_context.to_dict(),
            "tool_context": self.tool_context.to_dict(),
            "tasks_context": self.tasks_context.to_dict(),
            "plan_mode_context": self.plan_mode_context.to_dict(),
        }
        return raw | self.extra

    def to_dict(self) -> Raw:
        raw: Raw = {}
        for key, value in self.substates().items():
            raw[key] = value
            if key == "summary":
                raw["context"] = [message.to_dict() for message in self._context]
        return raw

    def to_json(self) -> str:
        return codec.dumps(self.to_dict())

    @classmethod
    def from_dict(cls, raw: Any) -> Self:
        reader = Reader(raw)
        messages = reader.array("context")
        return cls._read(
            reader, [Msg.from_dict(item, f"context[{i}]") for i, item in enumerate(messages)]
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        return cls.from_dict(codec.loads(text))

    @classmethod
    def from_parts(cls, substate: Raw, messages: Iterable[Msg]) -> Self:
        """A state from a snapshot's text and the messages that it refers to."""
        return cls._read(Reader(substate), messages)

    @classmethod
    def _read(cls, reader: Reader, messages: Iterable[Msg]) -> Self:
        session_id = reader.text("session_id")
        state = cls(
            new_hex() if session_id is None else session_id,
            reader.text("user_id"),
            reader.text("thread_id") or MAIN_THREAD,
        )
        state.summary = reader.text("summary")
        state.set_context(messages)
        state.reply_id = reader.text("reply_id")
        state.cur_iter = reader.integer("cur_iter", 0)
        state.shutdown_interrupted = reader.boolean("shutdown_interrupted")
        state.permission_context = PermissionContext.from_dict(reader.object("permission_context"))
        state.tool_context = ToolContext.from_dict(reader.object("tool_context"))
        state.tasks_context = TasksContext.from_dict(reader.object("tasks_context"))
        state.plan_mode_context = PlanModeContext.from_dict(reader.object("plan_mode_context"))
        state.extra = reader.rest(_FIELDS)
        return state

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AgentState) and self.__dict__ == other.__dict__

    def __repr__(self) -> str:
        return f"AgentState({self.session_id!r}, {len(self._context)} messages)"
