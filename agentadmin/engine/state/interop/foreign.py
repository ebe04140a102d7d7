"""Documents that are no state: each is named, so that nobody has to guess what they brought."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import DecodeError
from agentadmin.engine.state.agent_state import AgentState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Raw = dict[str, Any]

STATE_FIELDS = frozenset(AgentState.new("", None).to_dict()) | {
    *("thread_id", "schema_version", "reply_context", "middle_context"),
}
LEGACY_FIELDS = frozenset({"memory_messages", "toolkit_activeGroups", "activeGroups"})
_CERTAIN = STATE_FIELDS - {
    *("session_id", "user_id", "thread_id", "summary", "schema_version", "reply_id"),
}
"""Fields that no other product's document has."""

_ANTHROPIC_FIELDS = frozenset({"anthropic_version", "stop_sequences", "max_tokens", "system"})
_HEAD_FIELDS = frozenset({"seq", "epoch", "owner", "leaseUntil"})
_COMMIT_FIELDS = frozenset({"batchId", "firstSeq", "lastSeq"})
_LAYOUT_FIELDS = frozenset({"table_default", "key_prefix_default", "primary_key", "columns"})
_CHECKPOINT_FIELDS = frozenset({"channel_values", "channel_versions", "checkpoint"})
_PARTS = "only a whole state can be imported"
_LOG = "an event log does not hold the state; import the state that was saved beside it"


def refuse_foreign(document: Any) -> None:
    """Refuses what is no document of ours or of AgentScope's, and says whose it is."""
    if isinstance(document, list):
        _refuse_array(document)
    elif not isinstance(document, dict):
        raise DecodeError(f"must be an object: a state, not {_scalar(document)}")
    elif not document.keys() & _CERTAIN and document:
        _refuse_object(document)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    kinds: dict[type, str] = {str: "text", bool: "true or false", int: "a number"}
    return kinds.get(type(value), "a number")


def _refuse_object(raw: Raw) -> None:
    for tell, what in _OBJECTS:
        if tell(raw):
            raise DecodeError(f"This is {what}.")
    if raw.keys() & (STATE_FIELDS | LEGACY_FIELDS) or ("role" in raw and "content" in raw):
        return
    for name in ("state", "agent_state"):
        inner = raw.get(name)
        if isinstance(inner, dict) and inner.keys() & _CERTAIN:
            raise DecodeError("A state stands in here; import what this field holds.", path=name)
    fields = ", ".join(sorted(map(str, raw))[:5])
    raise DecodeError(
        "It holds none of the fields of a state, such as session_id or context; "
        f"it has {fields[:200]}."
    )


def _refuse_array(items: list[Any]) -> None:
    """An array is the messages of a 1.x session, or nothing that can be imported."""
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise DecodeError("must be a message", path=f"[{index}]")
        for tell, what in _ITEMS:
            if tell(item):
                raise DecodeError(f"This is an array of {what}.", path=f"[{index}]")
        if not item.keys() & {"role", "content"}:
            raise DecodeError(
                "This is an array, but not of messages; a state is an object.", path=f"[{index}]"
            )


def _has(*names: str) -> Callable[[Raw], bool]:
    """Whether an object has all of these fields."""
    return lambda raw: raw.keys() >= set(names)


def _any_of(names: Iterable[str]) -> Callable[[Raw], bool]:
    wanted = frozenset(names)
    return lambda raw: bool(raw.keys() & wanted)


def _object(*kinds: str) -> Callable[[Raw], bool]:
    return lambda raw: raw.get("object") in kinds


def _anthropic_message(raw: Raw) -> bool:
    return raw.get("type") == "message" and "role" in raw and "content" in raw


def _anthropic_request(raw: Raw) -> bool:
    return _has("messages", "model")(raw) and bool(raw.keys() & _ANTHROPIC_FIELDS)


def _openai_message(raw: Raw) -> bool:
    role = raw.get("role")
    if not isinstance(role, str) or not role.islower():
        return False
    own = bool(raw.keys() & {"tool_calls", "tool_call_id", "function_call", "refusal"})
    return own or isinstance(raw.get("content"), str)


def _event(raw: Raw) -> bool:
    """Events have a type in capitals, as REPLY_START or AGENT_START."""
    kind = raw.get("type")
    if not isinstance(kind, str) or not kind.isupper():
        return False
    return bool(raw.keys() & {"reply_id", "replyId", "createdAt", "created_at"})


def _langchain(raw: Raw) -> bool:
    return raw.get("lc") == 1 or raw.get("type") in ("human", "ai") or "additional_kwargs" in raw


def _block(raw: Raw) -> bool:
    return isinstance(raw.get("type"), str) and not raw.keys() & {"role", *STATE_FIELDS}


_OBJECTS: tuple[tuple[Callable[[Raw], bool], str], ...] = (
    (_object("chat.completion", "chat.completion.chunk", "response"), "an answer of OpenAI's API"),
    (_object("thread", "thread.message", "assistant"), "an object of OpenAI's Assistants API"),
    (_has("choices", "model"), "an answer of OpenAI's chat API"),
    (_has("mapping", "title"), "a conversation that ChatGPT exported"),
    (_anthropic_message, "a message of Anthropic's API"),
    (_anthropic_request, "a request to Anthropic's API"),
    (_has("messages", "model"), "a request to OpenAI's chat API"),
    (_has("chat_messages", "uuid"), "a conversation that Claude exported"),
    (_has("contents"), "a request to Google's Gemini API"),
    (_any_of(_CHECKPOINT_FIELDS), "a checkpoint of LangGraph"),
    (_has("values", "next"), "a state of LangGraph"),
    (_langchain, "an object that LangChain serialised"),
    (_has("agent_states"), "a state of AutoGen"),
    (_has("class_name"), "an object of LlamaIndex"),
    (_has("messages"), "a list of messages of another product"),
    (_openai_message, "a message in the form of OpenAI's chat API"),
    (_event, f"an event of AgentScope: {_LOG}"),
    (_has("eventId", "payloadJson"), "an event of AgentScope's journal; import a state"),
    (lambda raw: raw.keys() >= _HEAD_FIELDS, "the head of AgentScope's journal, not a state"),
    (lambda raw: raw.keys() >= _COMMIT_FIELDS, "a commit of AgentScope's journal, not a state"),
    (_has("formatVersion", "authority"), "the description of AgentScope's journal, not a state"),
    (_any_of(_LAYOUT_FIELDS), "the layout of a store, not a state"),
    (_has("root", "cases"), "the layout of a store, not a state"),
    (
        lambda raw: any(str(key).startswith("agentscope:") for key in raw),
        "a dump of AgentScope's Redis store; import what a key `agent_state` holds",
    ),
    (_has("mode", "allow_rules"), f"a permission context; {_PARTS}"),
    (_block, f"a single block; {_PARTS}"),
)

_ITEMS: tuple[tuple[Callable[[Raw], bool], str], ...] = (
    (_event, f"AgentScope's events: {_LOG}"),
    (_has("eventId", "payloadJson"), "events of AgentScope's journal; import a state"),
    (_any_of(_CERTAIN | {"session_id"}), "states; import them one by one"),
    (_anthropic_message, "messages of Anthropic's API"),
    (_openai_message, "messages in the form of OpenAI's chat API"),
    (_langchain, "messages of LangChain"),
    (_has("mapping", "title"), "conversations that ChatGPT exported"),
    (_has("chat_messages"), "conversations that Claude exported"),
    (_has("role", "parts"), "messages of Google's Gemini API"),
    (_block, f"blocks; {_PARTS}"),
)
