"""RuntimeContext: identity and attributes of one call, never persisted nor sent to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, overload

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.identity import MAIN_THREAD, check_id

if TYPE_CHECKING:
    from agentadmin.engine.agents.agent import Agent
    from agentadmin.engine.state.agent_state import AgentState

DEFAULT_NAMESPACE = "default"


class RuntimeContext:
    """Who calls, on which session and thread, with what beside it (spec §4)."""

    def __init__(
        self,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        user_id: str | None = None,
        session_id: str | None = None,
        thread_id: str = MAIN_THREAD,
        turn_id: str | None = None,
        run_id: str | None = None,
    ) -> None:
        self.namespace = namespace
        self.user_id = user_id
        self.session_id = session_id
        self.thread_id = thread_id
        self.turn_id = turn_id
        self.run_id = run_id
        self.agent_state: AgentState | None = None
        self._extra: dict[str, Any] = {}
        self._typed: dict[type[Any], Any] = {}

    @classmethod
    def builder(cls, source: RuntimeContext | None = None) -> RuntimeContextBuilder:
        """A builder, empty or with everything that `source` carries."""
        return RuntimeContextBuilder(source.copy() if source else cls())

    @classmethod
    def empty(cls) -> RuntimeContext:
        """An anonymous context without attributes."""
        return cls()

    def copy(self) -> RuntimeContext:
        """A context with the same identity, state and attributes, changed independently."""
        twin = RuntimeContext(
            namespace=self.namespace,
            user_id=self.user_id,
            session_id=self.session_id,
            thread_id=self.thread_id,
            turn_id=self.turn_id,
            run_id=self.run_id,
        )
        twin.agent_state = self.agent_state
        twin._extra = dict(self._extra)
        twin._typed = dict(self._typed)
        return twin

    def put(self, key: str | type[Any], value: Any) -> None:
        """Set an attribute by name or by type; None removes it."""
        attributes: dict[Any, Any] = self._extra if isinstance(key, str) else self._typed
        if value is None:
            attributes.pop(key, None)
        else:
            attributes[key] = value

    @overload
    def get[T](self, key: type[T]) -> T | None: ...
    @overload
    def get(self, key: str) -> Any: ...
    def get(self, key: str | type[Any]) -> Any:
        """An attribute by name or type; a type also finds the most specific subtype's value."""
        if isinstance(key, str):
            return self._extra.get(key)
        if key in self._typed:
            return self._typed[key]
        fitting = [kind for kind in self._typed if issubclass(kind, key)]
        if fitting:
            return self._typed[max(fitting, key=lambda kind: len(kind.__mro__))]
        return self if key is RuntimeContext else None

    def get_extra(self) -> dict[str, Any]:
        """The named attributes themselves: changing this changes the context."""
        return self._extra

    @staticmethod
    async def resolve_agent_state(ctx: RuntimeContext | None, agent: Agent) -> AgentState:
        """The call's own state, or the agent's default session's when there is no call."""
        if ctx is not None and ctx.agent_state is not None:
            return ctx.agent_state
        return await agent.get_agent_state(RuntimeContext.empty())


class RuntimeContextBuilder:
    """Collects what a RuntimeContext carries; each method returns the builder."""

    def __init__(self, context: RuntimeContext) -> None:
        self._context = context

    def namespace(self, value: str) -> Self:
        self._context.namespace = check_id(value, "namespace")
        return self

    def user_id(self, value: str | None) -> Self:
        """None is anonymous, which is nobody's name."""
        self._context.user_id = None if value is None else check_id(value, "user_id")
        return self

    def session_id(self, value: str | None) -> Self:
        """A blank id means the agent's default session."""
        blank = value is None or not value.strip()
        self._context.session_id = None if blank else check_id(str(value), "session_id")
        return self

    def thread_id(self, value: str | None) -> Self:
        self._context.thread_id = MAIN_THREAD if value is None else check_id(value, "thread_id")
        return self

    def turn_id(self, value: str | None) -> Self:
        self._context.turn_id = None if value is None else check_id(value, "turn_id")
        return self

    def run_id(self, value: str | None) -> Self:
        """An id for exactly one invocation; None clears an inherited one."""
        if value is not None and not value.strip():
            raise InvalidInput("must not be blank", path="run_id")
        self._context.run_id = None if value is None else check_id(value, "run_id")
        return self

    def put(self, key: str | type[Any], value: Any) -> Self:
        self._context.put(key, value)
        return self

    def build(self) -> RuntimeContext:
        return self._context.copy()
