"""`edit_file` and `search_files`, confined to the thread's workspace like the other file tools."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from agentadmin.engine.errors import ToolError
from agentadmin.engine.tools.builtin.files import MAX_BYTES, confined, replace_file
from agentadmin.engine.tools.toolkit import Effect, tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agentadmin.engine.tools.context import ToolContext

MAX_HITS = 200
MAX_LINE = 300
MAX_FILES = 5_000


@tool(effect=Effect.IDEMPOTENT, file_edit=True, matcher="path", path_arguments=("path",))
def edit_file(
    path: Annotated[str, "A path inside the workspace"],
    old: Annotated[str, "The text to replace; it must occur exactly once", {"minLength": 1}],
    new: Annotated[str, "What stands there afterwards"],
    context: ToolContext,
) -> str:
    """Replace one place in a text file."""
    real = confined(context, path)
    try:
        text = _text(real)
        changed = _changed(text, old, new, path)
        if changed is None:
            return f"{path} says that already"
        data = changed.encode("utf-8", errors="surrogateescape")
        if len(data) > MAX_BYTES:
            raise ToolError(f"a file may have at most {MAX_BYTES} bytes")
        replace_file(real, data)
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}") from error
    return f"replaced 1 place in {path}"


def _text(real: Path) -> str:
    with real.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ToolError(f"{real.name} has more than {MAX_BYTES} bytes")
    return data.decode("utf-8", errors="surrogateescape")


def _changed(text: str, old: str, new: str, path: str) -> str | None:
    """The text afterwards; None where a run that was cut off has changed it already."""
    places = text.count(old)
    if new and text.count(new) == 1 and places == new.count(old):
        return None
    if places != 1:
        raise ToolError(f"the old text occurs {places} times in {path}, not once")
    return text.replace(old, new)


@tool(effect=Effect.NONE, matcher="path", path_arguments=("path",), plan_mode_allowed=True)
def search_files(
    pattern: Annotated[str, "The text to look for, as it is written", {"minLength": 1}],
    context: ToolContext,
    path: Annotated[str, "A folder or file inside the workspace"] = ".",
) -> str:
    """Find the lines of text files that hold a text, in any case."""
    real = confined(context, path)
    if not real.exists():
        raise ToolError(f"there is no {path}")
    root = confined(context, ".")
    hits: list[str] = []
    for line in _hits(real, root, pattern.casefold()):
        hits.append(line)
        if len(hits) == MAX_HITS:
            hits.append(f"… and perhaps more: only the first {MAX_HITS} are shown")
            break
    return "\n".join(hits) or "(nothing found)"


def _hits(real: Path, root: Path, wanted: str) -> Iterator[str]:
    for file in _files(real):
        try:
            if root not in file.resolve().parents or file.stat().st_size > MAX_BYTES:
                continue
            data = file.read_bytes()
        except OSError:
            # Gone meanwhile, or not to be read: the others still answer.
            continue
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", errors="replace").splitlines(), 1):
            if wanted in line.casefold():
                yield f"{file.relative_to(root)}:{number}: {line.strip()[:MAX_LINE]}"


def _files(real: Path) -> Iterator[Path]:
    """The files below a folder in order; links to folders are not followed."""
    if real.is_file():
        yield real
        return
    count = 0
    for folder, folders, names in os.walk(real):
        folders.sort()
        for name in sorted(names):
            count += 1
            if count > MAX_FILES:
                return
            yield real.__class__(folder) / name
