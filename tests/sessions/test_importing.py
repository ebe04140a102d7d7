"""Import and export: what comes in goes out equal, what is wrong is named."""

import gzip
from typing import Any

import pytest

from agentadmin.audit.models import AuditEntry
from agentadmin.engine.errors import AgentAdminError, InvalidInput, SessionExists, TooDeep, TooLarge
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.state import codec
from sessions_app.models import AgentSession, AgentThread, JournalFact, Payload
from sessions_app.selectors.exporting import export_state, export_text
from sessions_app.selectors.sessions import session_threads
from sessions_app.selectors.threads import state_at
from sessions_app.selectors.transcript import transcript
from sessions_app.services.importing import Import, import_state
from sessions_app.services.update_state import update_agent_state
from tests.engine.state import fixtures
from tests.sessions.people import OPERATOR, VIEWER, end_user, person

pytestmark = pytest.mark.django_db

TEXT = {"type": "text", "text": "hi"}
USER = {"id": "m1", "name": "u", "role": "USER", "content": [TEXT], "metadata": {}}


def bring(document: Any, **given: Any) -> AgentThread:
    text = document if isinstance(document, str | bytes) else codec.dumps(document)
    actor = given.pop("actor", OPERATOR)
    session = import_state(actor=actor, wanted=Import(document=text, **given))
    return session_threads(session)[0]


def test_a_java_state_comes_in_whole() -> None:
    thread = bring(fixtures.text("agent_state_full.json"))
    state = state_at(thread).state
    given = fixtures.document("agent_state_full.json")
    assert state.to_dict() == given
    assert (thread.session.session_id, thread.session.user_id) == ("s-001", "alice")
    types = list(JournalFact.objects.filter(thread=thread).values_list("type", flat=True))
    assert types == [
        FactType.BASELINE,
        FactType.MESSAGE_USER,
        FactType.MESSAGE_ASSISTANT,
        FactType.TOOL_RESULT,
        FactType.MESSAGE_ASSISTANT,
        FactType.TURN_START,
        FactType.INTERACTION_REQUESTED,
        FactType.TURN_SUSPENDED,
    ]


def test_the_document_is_kept_as_it_came() -> None:
    text = fixtures.text("agent_state_full.json")
    thread = bring(text)
    assert Payload.objects.get(thread=thread).text == text


def test_an_untouched_java_state_goes_out_to_the_byte() -> None:
    text = fixtures.text("agent_state_full.json")
    thread = bring(text, session_id="mine", user_id="bob", thread_id="side")
    assert state_at(thread).state.session_id == "mine"
    assert export_text(thread, "agentscope-java") == text


def test_given_identity_wins_over_the_file() -> None:
    thread = bring({"session_id": "theirs", "user_id": "alice"}, session_id="ours", user_id="bob")
    assert (thread.session.session_id, thread.session.user_id) == ("ours", "bob")
    exported = export_state(thread)
    assert (exported["session_id"], exported["user_id"]) == ("theirs", "alice")


def test_a_bound_token_imports_for_its_own_user_only() -> None:
    thread = bring({"session_id": "s", "user_id": "alice"}, actor=end_user("bob"))
    assert thread.session.user_id == "bob"


@pytest.mark.parametrize("permissions", ["file", "agent"])
def test_an_untouched_session_exports_its_files_permissions(permissions: str) -> None:
    thread = bring(fixtures.text("agent_state_full.json"), permissions=permissions)
    mode = state_at(thread).state.permission_context.mode
    assert mode == ("accept_edits" if permissions == "file" else "default")
    given = fixtures.document("agent_state_full.json")["permission_context"]
    assert export_state(thread)["permission_context"] == given


def test_changed_permissions_are_exported_as_they_are() -> None:
    thread = bring(fixtures.text("agent_state_full.json"), permissions="agent")
    operation = {"op": "set_permission_mode", "mode": "explore"}
    update_agent_state(actor=OPERATOR, thread=thread, reason="r", operations=[operation])
    assert export_state(thread)["permission_context"]["mode"] == "explore"


@pytest.mark.parametrize(
    "name", ["legacy_agent_state_no_subcontexts.json", "legacy_agent_state_only_id.json"]
)
def test_older_states_come_in(name: str) -> None:
    thread = bring(fixtures.text(name))
    assert thread.session.session_id == fixtures.document(name)["session_id"]


def test_messages_of_a_1x_session_come_in() -> None:
    thread = bring(fixtures.text("legacy_memory_messages.jsonl"))
    assert len(transcript(thread).items) == len(
        fixtures.text("legacy_memory_messages.jsonl").strip().splitlines()
    )


def test_the_groups_of_a_1x_session_come_in() -> None:
    thread = bring(fixtures.text("legacy_toolkit_activeGroups.json"))
    assert state_at(thread).state.tool_context.activated_groups == ("basic", "web")


def test_one_message_alone_comes_in() -> None:
    thread = bring(fixtures.text("legacy_msg_no_timestamp_no_usage.json"))
    assert len(state_at(thread).state.context) == 1


def test_unknown_fields_and_odd_values_survive() -> None:
    given = {
        "session_id": "s",
        "context": [
            {**USER, "novel": {"z": 1, "a": 123456789012345678901234567890}},
            {**USER, "id": "m2", "content": [{"type": "text", "text": "\0 \ud83d"}]},
            {**USER, "id": "m2", "content": [{"type": "hologram", "beam": -0.0}], "role": "TOOL"},
            {**USER, "id": None},
        ],
        "later": {"deep": [[[{}]]]},
    }
    thread = bring(given)
    exported = export_state(thread)
    assert exported["context"] == given["context"]
    assert exported["later"] == given["later"]
    assert list(exported["context"][0]["novel"]) == ["z", "a"]


def test_a_lone_surrogate_survives() -> None:
    text = '{"session_id":"s","summary":"\\ud800","context":[]}'
    thread = bring(text)
    assert state_at(thread).state.summary == "\ud800"
    raw = text.encode().replace(b"\\ud800", b"\xed\xa0\x80").replace(b'"s"', b'"s2"')
    assert state_at(bring(raw)).state.summary == "\ud800"


def test_a_taken_identity_is_refused_with_its_id() -> None:
    first = bring({"session_id": "s"})
    with pytest.raises(SessionExists) as taken:
        bring({"session_id": "s"})
    assert taken.value.session_id == str(first.session_id)
    assert AgentSession.objects.count() == 1


def test_the_same_request_imports_once() -> None:
    text = codec.dumps({"session_id": "s"})
    wanted = Import(document=text)
    first = import_state(actor=OPERATOR, wanted=wanted, request_id="r")
    assert import_state(actor=OPERATOR, wanted=wanted, request_id="r") == first


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"session_id": 5}, "session_id"),
        ({"session_id": "s", "context": {}}, "context"),
        ({"session_id": "s", "context": [5]}, "context[0]"),
        ({"session_id": "s", "context": [USER, {**USER, "content": "hi"}]}, "context[1].content"),
        ({"context": [{**USER, "content": [{}]}]}, "context[0].content[0].type"),
        ({"session_id": "s", "permission_context": {"mode": "x"}}, "permission_context.mode"),
        (
            {"session_id": "s", "tool_context": {"max_cache_files": 1}},
            "tool_context.max_cache_files",
        ),
        ({"session_id": "s" * 257}, "session_id"),
        ({"session_id": "a\0b"}, "session_id"),
        ({"session_id": "s", "user_id": " "}, "user_id"),
        ({"session_id": "s", "thread_id": "\u202e"}, "thread_id"),
    ],
)
def test_a_wrong_field_is_named(document: Any, path: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        bring(document)
    assert refused.value.path == path
    assert not AgentSession.objects.exists()


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (b"", "empty"),
        (b"{", "line 1"),
        (b'{"session_id":"s","context":[{"id":"m', "line 1"),
        (b"hello", "not JSON"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        (b"[]", "no message"),
        (b"5", "object"),
        (b'{"name":"x"}', "none of the fields"),
        (b"PK\x03\x04rest", "ZIP"),
        (gzip.compress(b"{}", mtime=0), "gzip"),
        (b"\0" * 257 + b"ustar" + b"\0" * 100, "tar"),
    ],
)
def test_what_is_no_state_is_refused_in_words(document: bytes, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        bring(document)
    assert not AgentSession.objects.exists()


def test_depth_and_size_have_limits() -> None:
    deep = '{"session_id":"s","later":' + "[" * 998 + "]" * 998 + "}"
    assert bring(deep).version == 1
    with pytest.raises(TooDeep):
        bring('{"session_id":"t","later":' + "[" * 1000 + "]" * 1000 + "}")
    with pytest.raises(TooLarge):
        bring(b" " * (32 * 1024 * 1024 + 1))


def test_a_long_conversation_comes_in_at_once() -> None:
    context = [{**USER, "id": f"m{n}"} for n in range(3000)]
    thread = bring({"session_id": "long", "context": context})
    assert thread.context_messages == 3000
    assert thread.head_seq == 3001


def test_a_document_of_another_program_is_refused_in_words() -> None:
    with pytest.raises(InvalidInput, match="OpenAI's API"):
        bring({"object": "chat.completion", "choices": []})
    with pytest.raises(InvalidInput, match="LangGraph"):
        bring({"checkpoint": {"channel_values": {}}, "thread_id": "t"})
    with pytest.raises(InvalidInput, match="must be auto or one of"):
        bring({"session_id": "s"}, format="yaml")


def test_permissions_that_allow_more_need_a_fresh_sign_in() -> None:
    stale = person("olga", "operator", fresh=False)
    assert bring({"session_id": "s"}, actor=stale)
    with pytest.raises(AgentAdminError) as refused:
        bring(fixtures.text("agent_state_full.json"), actor=stale)
    assert refused.value.code == "step_up_required"
    with pytest.raises(AgentAdminError) as refused:
        bring({"session_id": "v"}, actor=VIEWER)
    assert refused.value.code == "forbidden"


def test_an_import_is_audited() -> None:
    thread = bring(fixtures.text("agent_state_full.json"))
    entry = AuditEntry.objects.get(action="sessions.import")
    assert entry.within == str(thread.session_id)
    assert codec.loads(entry.body or "")["content"]["source"] == "agentscope-java"


def test_an_imported_session_can_be_cleared_once_its_question_is_settled() -> None:
    thread = bring(fixtures.text("agent_state_full.json"))
    clear = [{"op": "clear_context"}]
    with pytest.raises(AgentAdminError) as refused:
        update_agent_state(actor=OPERATOR, thread=thread, reason="r", operations=clear)
    assert refused.value.code == "interaction_pending"
