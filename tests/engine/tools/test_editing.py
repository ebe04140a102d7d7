"""`edit_file` and `search_files`: exact, confined, and the same when run twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agentadmin.engine.tools.builtin import edit_file, search_files
from tests.engine.tools.test_builtin import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("one two", "two", "three", "one three"),
        ("a b", "a", "a a", "a a b"),
        ("x\r\ny", "y", "", "x\r\n"),
    ],
)
async def test_one_place_is_replaced_and_a_second_run_changes_nothing(
    tmp_path: Path, before: str, old: str, new: str, after: str
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(before.encode())
    assert "replaced 1 place" in await run(edit_file, tmp_path, path="a.txt", old=old, new=new)
    assert file.read_bytes() == after.encode()
    again = await run(edit_file, tmp_path, path="a.txt", old=old, new=new)
    assert again == "a.txt says that already" if new else "0 times" in again
    assert file.read_bytes() == after.encode()


async def test_what_is_not_there_once_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"a a \xff")
    assert "occurs 2 times" in await run(edit_file, tmp_path, path="a.txt", old="a", new="b")
    assert "occurs 0 times" in await run(edit_file, tmp_path, path="a.txt", old="c", new="b")
    assert "No such file" in await run(edit_file, tmp_path, path="b.txt", old="c", new="b")
    outside = await run(edit_file, tmp_path, path="../b.txt", old="c", new="b")
    assert "outside of the workspace" in outside
    assert file.read_bytes() == b"a a \xff"
    assert "replaced" in await run(edit_file, tmp_path, path="a.txt", old="a a", new="b")
    assert file.read_bytes() == b"b \xff"


async def test_lines_are_found_in_text_files_only(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("Tea\nno\n  green TEA (hot)")
    (tmp_path / "b.bin").write_bytes(b"tea\0")
    (tmp_path / "link").symlink_to("/etc/passwd")
    found = await run(search_files, tmp_path, pattern="tea")
    assert found == "docs/a.md:1: Tea\ndocs/a.md:3: green TEA (hot)"
    assert await run(search_files, tmp_path, pattern="root") == "(nothing found)"
    assert await run(search_files, tmp_path, pattern="(hot", path="docs/a.md")
    assert "outside" in await run(search_files, tmp_path, pattern="x", path="/etc")
    assert "there is no" in await run(search_files, tmp_path, pattern="x", path="nowhere")


async def test_very_many_hits_end_somewhere(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("tea\n" * 1000)
    found = await run(search_files, tmp_path, pattern="tea")
    assert len(found.splitlines()) == 201
