"""Design §9.1 and §9.4 for edits: the journal's states are the pure function's states."""

from typing import Any

import pytest
from django.db.models import Q
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentadmin.audit.verify import verify
from agentadmin.engine.clock import now
from agentadmin.engine.errors import InvalidOperation
from agentadmin.engine.journal.projection import ThreadProjection
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.mutations import apply_all
from sessions_app.journal.rows import read_facts, thread_ref
from sessions_app.models import AgentThread, JournalFact, StateSnapshot
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import transcript
from sessions_app.services.update_state import update_agent_state
from tests.sessions.conftest import make_thread, say
from tests.sessions.people import OPERATOR

pytestmark = pytest.mark.django_db

TEXT = st.sampled_from(["", "a", "\0", "\ud800", "日本語", "<script>"])
NAME = st.sampled_from(["execute", "write_file", "\0", "🙂"])
RULE = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["add_rule", "remove_rule"]),
        "behavior": st.sampled_from(["allow", "deny", "ask"]),
        "tool_name": NAME,
        "rule_content": st.none() | TEXT,
        "source": st.just("session"),
    }
)
MODES = ["default", "accept_edits", "explore", "bypass", "dont_ask"]
MODE = st.fixed_dictionaries({"op": st.just("set_permission_mode"), "mode": st.sampled_from(MODES)})
SUMMARY = st.fixed_dictionaries({"op": st.just("set_summary"), "summary": TEXT})
CLEAR = st.just({"op": "clear_context"})
RESTORE = st.fixed_dictionaries({"op": st.just("restore"), "version": st.integers(1, 9)})
EDIT = st.lists(st.one_of(RULE, MODE, SUMMARY, CLEAR, RESTORE), min_size=1, max_size=3)
SAID = st.lists(TEXT, min_size=1, max_size=3)


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=st.lists(st.one_of(EDIT, SAID), max_size=12))
def test_every_version_is_what_the_operations_say(steps: list[list[Any]]) -> None:
    thread = make_thread()
    states: list[AgentState] = [state_at(thread).state]
    said: list[str] = []
    for step in steps:
        if isinstance(step[0], str):
            say(thread, *step)
            said += step
            states.append(state_at(thread).state)
            continue
        before = states[-1]
        try:
            expected = _applied(states, before, step)
        except InvalidOperation:
            with pytest.raises(InvalidOperation):
                update_agent_state(actor=OPERATOR, thread=thread, reason="r", operations=step)
            continue
        update_agent_state(actor=OPERATOR, thread=thread, reason="r", operations=step)
        thread.refresh_from_db()
        if thread.version == len(states):
            states.append(expected)
        assert state_at(thread).state.to_dict() | _ids(expected) == expected.to_dict()
    thread.refresh_from_db()
    for version, state in enumerate(states[1:], 1):
        assert state_at(thread, version).state.to_dict() | _ids(state) == state.to_dict()
    assert [e.message["content"][0]["text"] for e in transcript(thread, limit=200).items] == said
    seqs = JournalFact.objects.filter(thread=thread).order_by("seq").values_list("seq", flat=True)
    assert list(seqs) == list(range(1, thread.head_seq + 1))
    assert StateSnapshot.objects.filter(thread=thread).count() == thread.version == len(states) - 1
    assert verify()["ok"]
    _assert_the_facts_alone_tell_every_version(thread)


def _applied(states: list[AgentState], state: AgentState, step: list[dict[str, Any]]) -> AgentState:
    """The pure function; a restore brings back what the version was, whatever came between."""
    for operation in step:
        if operation["op"] != "restore":
            state = apply_all(state, [operation], now=now())
        elif operation["version"] < len(states):
            state = states[operation["version"]]
        else:
            raise InvalidOperation("there is no such version")
    return state


def _assert_the_facts_alone_tell_every_version(thread: AgentThread) -> None:
    """Design §9.1: folded from nothing, without a look at a snapshot."""
    facts = read_facts(Q(thread_id=thread.id), thread.head_seq)
    known = {fact.seq: fact for fact in facts}
    folded = ThreadProjection(thread_ref(thread))
    ends = dict(StateSnapshot.objects.filter(thread=thread).values_list("seq", "version"))
    for fact in facts:
        folded.apply(fact, known)
        if fact.seq in ends:
            assert folded.state() == state_at(thread, ends[fact.seq]).state


def _ids(state: AgentState) -> dict[str, Any]:
    """A thread that never ran has no lasting reply id."""
    return {"reply_id": state.reply_id}
