"""The interpreter finder runs its candidates instead of believing their names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

FINDER = settings.BASE_DIR / ".ci" / "find-python"
# A virtual environment's Python has no ensurepip of its own in the way the finder looks for it.
REAL = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"


def script(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def find(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("ls", "sort"):
        link = tools / name
        if not link.exists():
            link.symlink_to(f"/bin/{name}")
    return subprocess.run(
        ["/bin/sh", str(FINDER)],
        env={"HOME": str(tmp_path), "PATH": f"{tmp_path}/bin:{tools}", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def real() -> str:
    return os.path.realpath(REAL)


def test_a_candidate_that_fails_is_passed_over(tmp_path: Path, real: str) -> None:
    script(
        tmp_path / "bin", "python3.14", "echo 'pyenv: python3.14: command not found' >&2; exit 127"
    )
    script(tmp_path / "bin", "python3.12", f'exec {real} "$@"')
    found = find(tmp_path)
    assert found.returncode == 0
    assert os.path.realpath(found.stdout.strip()) == real


def test_a_python_too_old_is_passed_over(tmp_path: Path, real: str) -> None:
    script(tmp_path / "bin", "python3", "exit 1")
    script(tmp_path / ".pyenv/versions/3.13.0/bin", "python3", f'exec {real} "$@"')
    script(tmp_path / ".pyenv/versions/3.9.18/bin", "python3", "exit 1")
    found = find(tmp_path)
    assert os.path.realpath(found.stdout.strip()) == real


def test_the_newest_of_pyenv_is_tried_first(tmp_path: Path, real: str) -> None:
    for version in ("3.12.1", "3.13.10", "3.13.2"):
        text = f"echo {version} >> {tmp_path}/tried; exit 1"
        script(tmp_path / f".pyenv/versions/{version}/bin", "python3", text)
    assert find(tmp_path).returncode == 1
    assert (tmp_path / "tried").read_text().split() == ["3.13.10", "3.13.2", "3.12.1"]


def test_a_python_that_is_named_must_work(tmp_path: Path) -> None:
    found = find(tmp_path, PYTHON="/nowhere/python3")
    assert found.returncode == 1
    assert "PYTHON is set to /nowhere/python3" in found.stderr


def test_one_sentence_says_that_none_was_found(tmp_path: Path) -> None:
    found = find(tmp_path)
    assert found.returncode == 1
    assert found.stdout == ""
    assert found.stderr.startswith("No working Python 3.12 or newer was found")
    assert found.stderr.count("\n") == 1
