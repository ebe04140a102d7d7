"""`read_file`, `write_file`, `list_files`: confined to the thread's workspace by real paths."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agentadmin.engine.errors import ToolError
from agentadmin.engine.identity import new_hex
from agentadmin.engine.tools.toolkit import Effect, tool

if TYPE_CHECKING:
    from agentadmin.engine.tools.context import ToolContext

MAX_BYTES = 1_000_000
MAX_ENTRIES = 1_000


def confined(context: ToolContext, path: str) -> Path:
    """The real path, links followed. Raises ToolError when it leaves the workspace."""
    if context.workspace is None:
        raise ToolError("this agent has no workspace")
    if "\0" in path:
        raise ToolError("a path must not hold NUL")
    context.workspace.mkdir(parents=True, exist_ok=True)
    root = context.workspace.resolve()
    real = (root / path).resolve()
    if real != root and root not in real.parents:
        raise ToolError(f"{path!r} lies outside of the workspace")
    return real


@tool(effect=Effect.NONE, matcher="path", path_arguments=("path",), plan_mode_allowed=True)
def read_file(path: Annotated[str, "A path inside the workspace"], context: ToolContext) -> str:
    """Read a text file."""
    real = confined(context, path)
    try:
        with real.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise ToolError(f"{path} has more than {MAX_BYTES} bytes")
    return data.decode("utf-8", errors="replace")


@tool(effect=Effect.IDEMPOTENT, file_edit=True, matcher="path", path_arguments=("path",))
def write_file(
    path: Annotated[str, "A path inside the workspace"],
    text: Annotated[str, "The whole new content"],
    context: ToolContext,
) -> str:
    """Write a text file, replacing what was there."""
    real = confined(context, path)
    data = text.encode("utf-8", errors="surrogatepass")
    if len(data) > MAX_BYTES:
        raise ToolError(f"a file may have at most {MAX_BYTES} bytes")
    try:
        replace_file(real, data)
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}") from error
    return f"wrote {len(data)} bytes to {path}"


def replace_file(real: Path, data: bytes) -> None:
    """All or nothing: a reader never sees half a file."""
    real.parent.mkdir(parents=True, exist_ok=True)
    temporary = real.with_name(f".{new_hex()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(real)
    finally:
        temporary.unlink(missing_ok=True)


@tool(effect=Effect.NONE, matcher="path", path_arguments=("path",), plan_mode_allowed=True)
def list_files(
    context: ToolContext,
    path: Annotated[str, "A folder inside the workspace"] = ".",
    pattern: Annotated[str | None, "A glob such as *.md; ** goes into folders"] = None,
) -> str:
    """List the files of a folder."""
    real = confined(context, path)
    if not real.is_dir():
        raise ToolError(f"{path} is no folder")
    if pattern and (pattern.startswith("/") or ".." in Path(pattern).parts):
        raise ToolError("a pattern stays inside the folder")
    try:
        found = sorted(_names(real, pattern))
    except (OSError, ValueError, NotImplementedError) as error:
        raise ToolError(f"{path}: {error}") from error
    more = [f"… and {len(found) - MAX_ENTRIES} more"] if len(found) > MAX_ENTRIES else []
    return "\n".join([*found[:MAX_ENTRIES], *more]) or "(empty)"


def _names(folder: Path, pattern: str | None) -> list[str]:
    return [
        f"{entry.relative_to(folder)}{os.sep if entry.is_dir() else ''}"
        for entry in folder.glob(pattern or "*")
    ]
