"""The operation that changes any part of a state by a JSON Patch (RFC 6902)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import DecodeError, InvalidInput, InvalidOperation
from agentadmin.engine.state import codec
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.json_pointer import put, set_at, steps_of, take, value_at
from agentadmin.engine.state.needed import permissions_of_change
from agentadmin.engine.state.operations import OperationSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from agentadmin.engine.state.reading import Reader

MAX_STEPS = 1000
MAX_CHARACTERS = 32 * 1024 * 1024
"""What the copies of one patch may add, and what a state may grow to: copies of copies double."""
_IDENTITY = ("session_id", "user_id", "thread_id")
_FIELDS = frozenset({"op", "path", "from", "value"})
_EVERYTHING = frozenset(AgentState.new().to_dict()) - {"session_id", "user_id"}


def patched(document: Any, patch: Any) -> Any:
    """The document after every step in order; an error names the step as `patch[n]`."""
    if not isinstance(patch, list):
        raise InvalidInput("must be an array of steps", path="patch")
    if not 1 <= len(patch) <= MAX_STEPS:
        raise InvalidInput(f"must hold 1 to {MAX_STEPS} steps", path="patch")
    steps = {**_STEPS, "copy": _Copies().copy}
    for number, step in enumerate(patch):
        document = _step(document, step, f"patch[{number}]", steps)
    return document


def _step(document: Any, step: Any, place: str, steps: Mapping[str, _Act]) -> Any:
    if not isinstance(step, dict):
        raise InvalidInput("must be an object", path=place)
    word = step.get("op")
    act = steps.get(word) if isinstance(word, str) else None
    if act is None:
        raise InvalidInput(f"must be one of {', '.join(steps)}", path=f"{place}.op")
    if unknown := sorted(step.keys() - _FIELDS):
        raise InvalidInput("is no field of a step", path=f"{place}.{unknown[0]:.60}")
    try:
        return act(document, step)
    except InvalidInput as error:
        raise InvalidInput(error.detail, path=f"{place}.{error.path or 'path'}") from error


def _add(document: Any, step: Mapping[str, Any]) -> Any:
    return _added(document, steps_of(step.get("path")), _copied(_value(step)))


def _added(document: Any, path: tuple[str, ...], value: Any) -> Any:
    if not path:
        return value
    put(document, path, value)
    return document


def _remove(document: Any, step: Mapping[str, Any]) -> Any:
    path = steps_of(step.get("path"))
    if not path:
        raise InvalidInput("the whole state cannot be removed")
    take(document, path)
    return document


def _replace(document: Any, step: Mapping[str, Any]) -> Any:
    path = steps_of(step.get("path"))
    if not path:
        return _copied(_value(step))
    set_at(document, path, _copied(_value(step)))
    return document


def _move(document: Any, step: Mapping[str, Any]) -> Any:
    path, source = steps_of(step.get("path")), _from(step)
    if path[: len(source)] == source:
        if path == source:
            value_at(document, source)
            return document
        raise InvalidInput("a value cannot be moved into itself")
    return _added(document, path, take(document, source))


class _Copies:
    """The copies of one patch, which may not grow without end."""

    def __init__(self) -> None:
        self.left = MAX_CHARACTERS

    def copy(self, document: Any, step: Mapping[str, Any]) -> Any:
        text = codec.dumps(value_at(document, _from(step)))
        self.left -= len(text)
        if self.left < 0:
            raise InvalidInput("the copies of a patch may add at most 32 MB", path="from")
        return _added(document, steps_of(step.get("path")), codec.loads(text))


def _test(document: Any, step: Mapping[str, Any]) -> Any:
    if not _equal(value_at(document, steps_of(step.get("path"))), _value(step)):
        raise InvalidInput("another value stands there", path="value")
    return document


type _Act = Callable[[Any, Mapping[str, Any]], Any]

_STEPS: dict[str, _Act] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "test": _test,
}


def _from(step: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        return steps_of(step.get("from"))
    except InvalidInput as error:
        raise InvalidInput(error.detail, path="from") from error


def _value(step: Mapping[str, Any]) -> Any:
    if "value" not in step:
        raise InvalidInput("is missing", path="value")
    return step["value"]


def _copied(value: Any) -> Any:
    """A value of its own, however deep it nests."""
    return codec.loads(codec.dumps(value))


def _equal(left: Any, right: Any) -> bool:
    """Equal as JSON: true is not 1, and the order of an object's members is nothing."""
    pending = [(left, right)]
    while pending:
        one, other = pending.pop()
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            pending += [(one[key], other[key]) for key in one]
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            pending += zip(one, other, strict=True)
        elif isinstance(one, bool) is not isinstance(other, bool) or one != other:
            return False
    return True


def _patch(state: AgentState, operation: Reader, _now: datetime) -> None:
    """The result has to be a state again, and of the same thread."""
    if "patch" not in operation.raw:
        raise operation.refuse("patch", "is missing")
    try:
        # The codec copies: a message that is shared with history must not change in place.
        before = codec.dumps(state.to_dict())
        document = patched(codec.loads(before), operation.raw["patch"])
        if len(codec.dumps(document)) > max(MAX_CHARACTERS, len(before)):
            raise InvalidInput("the result has more than 32 MB", path="patch")
    except InvalidInput as error:
        raise InvalidOperation(error.detail, path=error.path or "patch") from error
    try:
        after = AgentState.from_dict(document)
    except DecodeError as error:
        detail = f"the result is no state: {error.path or 'it'} {error.detail}"
        raise InvalidOperation(detail, path=error.path or "patch") from error
    for name in _IDENTITY:
        if getattr(after, name) != getattr(state, name):
            raise InvalidOperation("a state's identity cannot be changed", path=name)
    state.assume(after)


def _parts(operation: Mapping[str, Any]) -> frozenset[str]:
    """The parts that the steps name; a patch that cannot be read may mean all of them."""
    try:
        return frozenset().union(*map(_named, operation["patch"])) or frozenset({"extra"})
    except (InvalidInput, AttributeError, KeyError, TypeError):
        return _EVERYTHING


def _named(step: Mapping[str, Any]) -> frozenset[str]:
    if step["op"] == "test":
        return frozenset()
    pointers = [step["path"], *([step["from"]] if step["op"] == "move" else [])]
    found = [steps_of(pointer) for pointer in pointers]
    return frozenset(steps[0] for steps in found) if all(found) else _EVERYTHING


JSON_PATCH = OperationSpec(
    name="json_patch",
    permission="sessions:patch",
    substates=_EVERYTHING,
    change=_patch,
    fields=frozenset({"patch"}),
    parts=_parts,
    needs=permissions_of_change,
)
