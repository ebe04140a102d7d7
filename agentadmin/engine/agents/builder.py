"""AgentBuilder: collects an agent's settings and refuses, at build time, what cannot work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from agentadmin.engine.agents.agent import Agent
from agentadmin.engine.agents.middleware import Middleware, ordered
from agentadmin.engine.agents.spec import DEFAULT_MAX_ITERS, AgentSpec
from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.identity import check_id
from agentadmin.engine.models.options import ModelOptions
from agentadmin.engine.models.registry import create
from agentadmin.engine.state.permissions import PermissionContext
from agentadmin.engine.stores.base import AgentStateStore, ConflictPolicy
from agentadmin.engine.tools.toolkit import Tool, Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentadmin.engine.agents.home import StateHome
    from agentadmin.engine.models.base import ChatModel

MOST_ITERS = 1_000
MOST_PATIENCE = 366 * 86_400


class AgentBuilder(ABC):
    """Configure once, build as often as needed; every agent built is independent."""

    def __init__(self) -> None:
        self._name = ""
        self._agent_id: str | None = None
        self._model: ChatModel | str | None = None
        self._model_options: ModelOptions | None = None
        self._tools: list[Tool | Callable[..., Any]] = []
        self._sys_prompt = ""
        self._max_iters = DEFAULT_MAX_ITERS
        self._default_session_id: str | None = None
        self._permission_context = PermissionContext()
        self._groups: tuple[str, ...] = ()
        self._middleware: list[Middleware] = []
        self._workspace: Path | None = None
        self._state_store: AgentStateStore | None = None
        self._policy = ConflictPolicy.OVERWRITE
        self._keep_partial = True
        self._answer_within: float | None = None

    def name(self, value: str) -> Self:
        """The name that its messages carry."""
        self._name = check_id(value, "name")
        return self

    def agent_id(self, value: str) -> Self:
        """Part of every thread's identity; the name when absent."""
        self._agent_id = check_id(value, "agent_id")
        return self

    def model(
        self, value: ChatModel | str, options: ModelOptions | Mapping[str, Any] | None = None
    ) -> Self:
        """A model, or `provider:model` with its options."""
        self._model = value
        if options is None or isinstance(options, ModelOptions):
            self._model_options = options
        else:
            self._model_options = ModelOptions.read(options)
        return self

    def tools(self, *tools: Tool | Callable[..., Any] | Toolkit) -> Self:
        """Add tools; plain functions count as having outside effects."""
        for entry in tools:
            self._tools.extend(entry if isinstance(entry, Toolkit) else [entry])
        return self

    def active_groups(self, *groups: str) -> Self:
        """The tool groups of a fresh thread."""
        self._groups = groups
        return self

    def sys_prompt(self, value: str) -> Self:
        """The system prompt."""
        self._sys_prompt = value
        return self

    def max_iters(self, value: int) -> Self:
        """How many rounds a call may take."""
        if not 1 <= value <= MOST_ITERS:
            raise InvalidInput(f"must lie between 1 and {MOST_ITERS}", path="max_iters")
        self._max_iters = value
        return self

    def default_session_id(self, value: str) -> Self:
        """The session of calls that name none."""
        self._default_session_id = check_id(value, "default_session_id")
        return self

    def permission_context(self, value: PermissionContext) -> Self:
        """The permissions of a fresh thread."""
        self._permission_context = value
        return self

    def middleware(self, *layers: Middleware) -> Self:
        """Add layers of the onion."""
        self._middleware.extend(layers)
        return self

    def workspace(self, value: Path | str) -> Self:
        """The folder under which every thread has one of its own."""
        self._workspace = Path(value)
        return self

    def state_store(self, value: AgentStateStore) -> Self:
        """Where snapshot mode keeps states; bound here, never switched per call."""
        self._state_store = value
        return self

    def conflict_policy(self, value: ConflictPolicy) -> Self:
        """What snapshot mode does when somebody else saved the thread meanwhile."""
        self._policy = value
        return self

    def keep_partial_on_shutdown(self, value: bool) -> Self:  # noqa: FBT001 - a setter
        """Whether a half streamed answer is kept when the process shuts down."""
        self._keep_partial = value
        return self

    def answer_within(self, seconds: float | None) -> Self:
        """How long people may take to answer; what nobody answered in time is denied."""
        if seconds is not None and not 0 < seconds <= MOST_PATIENCE:
            raise InvalidInput(f"must lie between 0 and {MOST_PATIENCE}", path="answer_within")
        self._answer_within = seconds
        return self

    @property
    def identity(self) -> str:
        """The agent id as it stands. Raises InvalidInput for an agent without a name."""
        if not self._name:
            raise InvalidInput("an agent needs a name", path="name")
        return self._agent_id or self._name

    def _spec(self) -> AgentSpec:
        agent_id = self.identity
        if self._model is None:
            raise InvalidInput("an agent needs a model", path="model")
        model = self._model
        if isinstance(model, str):
            model = create(model, self._model_options)
        return AgentSpec(
            name=self._name,
            agent_id=agent_id,
            model=model,
            toolkit=Toolkit(self._tools),
            sys_prompt=self._sys_prompt,
            max_iters=self._max_iters,
            default_session_id=self._default_session_id or self._name,
            permission_context=self._permission_context,
            initial_groups=self._groups,
            middleware=ordered(self._middleware),
            workspace=self._workspace,
            keep_partial_on_shutdown=self._keep_partial,
            answer_within=self._answer_within,
        )

    @abstractmethod
    def _home(self, spec: AgentSpec) -> StateHome:
        """Where the built agent's threads live."""

    @abstractmethod
    def build(self) -> Agent:
        """An independent agent; close it when done."""

    def _build[A: Agent](self, kind: type[A]) -> A:
        spec = self._spec()
        return kind(spec, self._home(spec), owns_model=isinstance(self._model, str))
