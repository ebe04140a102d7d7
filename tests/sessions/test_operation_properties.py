"""Design §9.1 and §9.4 under every operation, redactions of the past included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentadmin.engine.clock import now
from agentadmin.engine.context.compaction import plan_by_count
from agentadmin.engine.errors import Conflict, InvalidOperation
from agentadmin.engine.state.mutations import apply
from agentadmin.engine.state.redaction import redacted
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import transcript
from sessions_app.services.update_state import update_agent_state
from tests.sessions.conftest import make_thread, say
from tests.sessions.people import person
from tests.sessions.proofs import check_proofs, everything_stored

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState
    from sessions_app.models import AgentThread

pytestmark = pytest.mark.django_db

ADMIN = person("ada", "admin")
TIMES = ("created_at", "decided_at")


def op(name: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"op": st.just(name), **fields})


PATH = st.sampled_from(["/srv", "docs", "/srv/日本"])
TODO = st.fixed_dictionaries({"content": st.sampled_from(["a", "b"]), "status": st.none()})
STEP = st.sampled_from(
    [
        {"op": "move", "from": "/context/0", "path": "/context/-"},
        {"op": "remove", "path": "/context/0"},
        {"op": "copy", "from": "/context/0", "path": "/context/-"},
        {"op": "add", "path": "/note", "value": {"a": [1, "\ud800"]}},
        {"op": "replace", "path": "/summary", "value": "patched"},
    ]
)
OPERATION = st.one_of(
    op("clear_context"),
    op("compact", keep_messages=st.integers(0, 3)),
    op("restore", version=st.integers(1, 9)),
    op("redact_message", message_id=st.integers(0, 5)),
    op("redact_message", message_id=st.integers(0, 5)),
    op("json_patch", patch=st.lists(STEP, min_size=1, max_size=2)),
    op("add_working_directory", path=PATH),
    op("remove_working_directory", path=PATH),
    op("enter_plan_mode"),
    op("exit_plan_mode"),
    op("set_todos", todos=st.lists(TODO, max_size=3), revision=st.none() | st.integers(0, 2)),
    op("begin_task", objective=st.just("ship"), requirements=st.just([{"text": "a"}])),
    op("decide_requirement", id=st.just("r1"), decision=st.sampled_from(["confirm", "reject"])),
    op("set_subject_version", subject_version=st.none() | st.just("v1")),
    op("activate_tool_groups", groups=st.just([])),
)
SAID = st.lists(st.just("secret"), min_size=1, max_size=3)


class Story:
    """What should be: every version's state, and every message that was ever said."""

    def __init__(self, thread: AgentThread) -> None:
        self.thread = thread
        self.states = [state_at(thread).state]
        self.ids: list[str] = []
        self.gone: set[str] = set()

    def say(self, texts: list[str]) -> None:
        """New messages, with words that a redaction has to remove."""
        say(self.thread, *(self.words(len(self.ids) + n) for n in range(len(texts))))
        self.states.append(state_at(self.thread).state)
        self.ids += [str(m.id) for m in self.states[-1].context[-len(texts) :]]

    def words(self, number: int) -> str:
        """What a message said; nobody else says it."""
        return f"secret {number} of {self.thread.id};"

    def named(self, operation: dict[str, Any]) -> dict[str, Any]:
        """The operation with the id of a message in place of its number."""
        if operation["op"] != "redact_message":
            return operation
        number = operation["message_id"]
        known = self.ids[number] if number < len(self.ids) else "unknown"
        return {**operation, "message_id": known}

    def expected(self, operation: dict[str, Any]) -> AgentState:
        """The state that the pure function gives, with what the product looks up for it."""
        state, given = self.states[-1], dict(operation)
        if operation["op"] == "restore":
            if operation["version"] >= len(self.states):
                raise InvalidOperation("there is no such version")
            given["state"] = self.states[operation["version"]]
        elif operation["op"] == "compact":
            cut = plan_by_count(state, operation["keep_messages"]).cut
            given |= {"cut": cut, "summary": f"Summary of {cut} messages."}
        elif operation["op"] == "decide_requirement":
            given["decided_by"] = ADMIN.name
        elif operation["op"] == "redact_message":
            given["in_history"] = operation["message_id"] in self.ids
        return apply(state, given, now=now())

    def redact(self, message_id: str) -> None:
        """The past says it no more either."""
        self.gone.add(message_id)
        for state in self.states:
            state.set_context(
                redacted(m, "[redacted]") if m.id == message_id else m for m in state.context
            )

    def do(self, operation: dict[str, Any]) -> None:
        """Expect it, do it, compare."""
        wanted = self.named(operation)
        try:
            expected = self.expected(wanted)
        except (InvalidOperation, Conflict) as error:
            with pytest.raises(type(error)):
                self._update(wanted)
            return
        self._update(wanted)
        self.thread.refresh_from_db()
        if wanted["op"] == "redact_message":
            self.redact(wanted["message_id"])
        found = state_at(self.thread).state
        if self.thread.version == len(self.states):
            self.states.append(found)
        assert _timeless(found.to_dict()) == _timeless(expected.to_dict())

    def _update(self, operation: dict[str, Any]) -> None:
        update_agent_state(
            actor=ADMIN, thread=self.thread, reason="because", operations=[operation]
        )

    def check(self) -> None:
        """Every version folds to what it was, minus what was redacted."""
        self.thread.refresh_from_db()
        assert self.thread.version == len(self.states) - 1
        for version, state in enumerate(self.states[1:], 1):
            assert state_at(self.thread, version).state == state
        told = {e.message["id"]: e.message for e in transcript(self.thread, limit=200).items}
        stored = everything_stored()
        for number, id_ in enumerate(self.ids):
            words = self.words(number)
            text = "[redacted]" if id_ in self.gone else words
            assert told[id_]["content"][0]["text"] == text
            assert (words in stored) is (id_ not in self.gone)
        check_proofs(self.thread)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: None if k in TIMES else _timeless(v) for k, v in value.items()}
    return [_timeless(each) for each in value] if isinstance(value, list) else value


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=st.lists(st.one_of(SAID, OPERATION, OPERATION, OPERATION), max_size=12))
def test_every_version_is_what_the_operations_say_even_where_the_past_was_redacted(
    steps: list[Any],
) -> None:
    thread = make_thread()
    story = Story(thread)
    story.say(["secret", "secret"])
    for step in steps:
        if isinstance(step, list):
            story.say(step)
        else:
            story.do(step)
    story.check()
