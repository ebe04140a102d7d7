"""What the engine publishes, its errors and its identities."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest

from agentadmin import engine
from agentadmin.engine import errors
from agentadmin.engine.clock import iso, message_timestamp, now
from agentadmin.engine.errors import AgentAdminError, InvalidInput
from agentadmin.engine.identity import SessionKey, ThreadKey, check_id, new_hex, new_id

FRAMEWORKS = ("django", "celery", "channels", "ninja")


def test_every_public_name_can_be_loaded() -> None:
    assert all(getattr(engine, name) is not None for name in engine.__all__)


def test_the_three_lists_of_public_names_agree() -> None:
    tree = ast.parse(Path(engine.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = [
        alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(engine.__all__) == engine.__all__
    assert sorted(typed) == sorted(engine._EXPORTS) == engine.__all__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = engine.nothing


def test_importing_the_engine_loads_no_framework() -> None:
    program = (
        "import sys, agentadmin.engine as e; [getattr(e, n) for n in e.__all__];"
        f"print([m for m in {FRAMEWORKS!r} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def _all_errors() -> list[type[AgentAdminError]]:
    found: list[type[AgentAdminError]] = []
    pending: list[type[AgentAdminError]] = [AgentAdminError]
    while pending:
        cls = pending.pop()
        found.append(cls)
        pending.extend(
            sub for sub in cls.__subclasses__() if sub.__module__.startswith(errors.__name__)
        )
    return found


def test_every_error_has_a_code_of_its_own_and_is_drawn_in_the_tree() -> None:
    classes = _all_errors()
    assert len({cls.code for cls in classes}) == len(classes)
    drawing = errors.__doc__ or ""
    for cls in classes[1:]:
        assert f"{cls.__name__} " in drawing
        assert cls.code in drawing


@pytest.mark.parametrize(
    ("error", "extra"),
    [
        (errors.Forbidden("a:b"), {"permission": "a:b"}),
        (errors.StaleVersion(4), {"current_version": 4, "diff": {}}),
        (errors.ThreadBusy("r"), {"run_id": "r"}),
        (errors.InteractionPending(iter("ab")), {"ids": ["a", "b"]}),
        (errors.NeedsReconcile(["c"]), {"call_ids": ["c"]}),
        (errors.AlreadyDecided("eve", "noon"), {"by": "eve", "at": "noon"}),
        (errors.SessionExists("s"), {"session_id": "s"}),
        (errors.NoActiveRun(2), {"queued_turns": 2}),
        (errors.ModelError(retryable=True), {"retryable": True}),
        (errors.RateLimited(2), {"retry_after": 2}),
        (errors.InvalidOperation("x", index=3, path="mode"), {"index": 3, "path": "mode"}),
        (errors.MissingReason(), {"path": "reason"}),
        (errors.NotFound(), {}),
    ],
)
def test_an_error_tells_what_a_caller_needs(
    error: AgentAdminError, extra: dict[str, object]
) -> None:
    assert error.extra() == extra
    assert error.detail


def test_a_path_grows_outwards() -> None:
    error = errors.DecodeError("wrong", path="source").under("content[0]").under("context[3]")
    assert error.path == "context[3].content[0].source"
    assert str(error) == "context[3].content[0].source: wrong"
    assert errors.DecodeError("x", path="[1]").under("a").path == "a[1]"
    assert errors.DecodeError("x").under("a").path == "a"


def test_anonymous_is_no_name_and_no_join_can_confuse_ids() -> None:
    keys = [
        SessionKey("n", None, "s"),
        SessionKey("n", "null", "s"),
        SessionKey("n", "", "s"),
        SessionKey("n", "a/b", "c"),
        SessionKey("n", "a", "b/c"),
    ]
    assert len({key.identity_hash() for key in keys}) == len(keys)


def test_a_thread_knows_its_session_and_its_store_entries() -> None:
    thread = ThreadKey("n", "u", "s", "a/b", "main")
    assert thread.session == SessionKey("n", "u", "s")
    assert thread.state_entry("x") != ThreadKey("n", "u", "s", "a", "b/main").state_entry("x")
    assert thread.identity_hash() != ThreadKey("n", "u", "s", "a/b", "other").identity_hash()


@pytest.mark.parametrize("value", ["a", "x" * 256, "漢字 空", "👩\u200d🚀", "a/b c:d", "\u3000x"])
def test_any_printable_id_is_legal(value: str) -> None:
    assert check_id(value, "session_id") == value


@pytest.mark.parametrize("value", ["", "  ", "x" * 257, "a\x00", "a\nb", "\ud800", "\u202e", None])
def test_other_ids_are_refused_with_their_field(value: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_id(value, "session_id")
    assert caught.value.path == "session_id"


def test_new_ids_sort_by_time_and_are_version_seven() -> None:
    first, second = new_id(), new_id()
    assert UUID(first).version == 7
    assert first[:12] <= second[:12]
    assert len(new_hex()) == 32


def test_times_are_written_in_two_forms() -> None:
    moment = now().replace(2026, 12, 1, 12, 2, 43, 907_123)
    assert iso(moment) == "2026-12-01T12:02:43.907Z"
    assert message_timestamp(moment) == "2026-12-01 12:02:43.907"
