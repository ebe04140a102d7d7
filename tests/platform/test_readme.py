"""The README tells the truth: its commands run, its map is the tree, its tables are complete."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.core.management import get_commands

from agentadmin.supervisor import programs
from tests.platform import readme
from tests.services.folder import FOLDER
from tests.services.product import PASSWORD, free_port, until
from tests.services.upping import OURS


class MakeRun:
    """`make run` as a person types it, on a data folder and a port of its own."""

    def __init__(self) -> None:
        self.data = FOLDER / "readme"
        self.port = free_port()
        self.output = FOLDER / "readme.out"
        inherited = {name: value for name, value in os.environ.items() if name not in OURS}
        self.environment = inherited | {
            "AGENTADMIN_DATA": str(self.data),
            "AGENTADMIN_ADMIN_PASSWORD": PASSWORD,
            "DJANGO_SETTINGS_MODULE": "agentadmin.settings",
            "PORT": str(self.port),
        }
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                ["make", "run"],
                cwd=readme.ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def said(self) -> str:
        return self.output.read_text()

    def shell(self, script: str) -> str:
        """What a block of commands prints."""
        here = script.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")
        done = subprocess.run(
            ["sh", "-euc", here],
            cwd=readme.ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{here}\n{done.stdout}{done.stderr}"
        return done.stdout

    def interrupt(self) -> int:
        """Ctrl-C reaches everything in the foreground."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(8)


@pytest.fixture(scope="module")
def running() -> Iterator[MakeRun]:
    started = MakeRun()
    try:
        until(lambda: "is ready at" in started.said() or started.process.poll() is not None, "", 90)
        assert "is ready at" in started.said(), started.said()
        yield started
    finally:
        started.interrupt()


def by_hand() -> list[str]:
    """The blocks that start nothing by themselves."""
    return [block for block in readme.blocks("sh") if "make " not in block]


@pytest.mark.live
def test_make_run_says_where_it_is_and_serves_the_sign_in_page(running: MakeRun) -> None:
    assert f"AgentAdmin is ready at http://127.0.0.1:{running.port}\n" in running.said()
    answer = httpx.get(f"http://127.0.0.1:{running.port}/sign-in", timeout=10)
    assert answer.status_code == 200
    assert "Sign in" in answer.text


@pytest.mark.live
def test_every_command_block_runs_in_the_order_of_the_page(running: MakeRun) -> None:
    assert len(by_hand()) >= 3
    for block in by_hand():
        assert running.shell(block)


def test_every_command_of_the_page_is_there() -> None:
    assert set(re.findall(r"manage\.py ([a-z_]+)", readme.TEXT)) <= get_commands().keys()


def test_a_library_call_prints_its_reply() -> None:
    script = next(block for block in readme.blocks("python") if "asyncio.run" in block)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=readme.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("hello\n", "")


def targets() -> set[str]:
    makefile = (readme.ROOT / "Makefile").read_text()
    return set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


def test_every_make_target_of_the_page_exists_and_every_public_one_is_told() -> None:
    named = set(re.findall(r"make ([a-z-]+)`", readme.TEXT))
    assert named <= targets()
    assert targets() - named <= {"help", "setup-dev"}


def test_the_map_draws_only_what_exists() -> None:
    missing = [path for path in readme.the_map().paths if not (readme.ROOT / path).exists()]
    assert missing == []


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=readme.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [Path(line) for line in listed.stdout.splitlines()]


def names_below(folder: str) -> set[str]:
    depth = len(Path(folder).parts)
    below = [path for path in tracked() if path.parts[:depth] == Path(folder).parts]
    return {path.parts[depth] for path in below if len(path.parts) > depth}


@pytest.mark.parametrize(
    "folder", ["", "agentadmin", "agentadmin/engine", "sessions_app", "runs_app"]
)
def test_the_map_leaves_nothing_out(folder: str) -> None:
    unsaid = {"__init__.py", ".gitignore"}
    assert names_below(folder) - readme.the_map().children(folder) <= unsaid


def test_every_path_of_the_recipes_exists() -> None:
    named = readme.code_words(readme.section("Where to change what"))
    paths = {word for word in named if re.fullmatch(r"[a-z_]+(/[a-z_]+)+(/|\.py)", word)}
    assert len(paths) > 5
    assert [path for path in paths if not (readme.ROOT / path).exists()] == []


def test_the_table_of_variables_is_what_the_code_reads() -> None:
    sources = [path for path in tracked() if path.suffix == ".py" and path.parts[0] != "tests"]
    text = "\n".join((readme.ROOT / path).read_text() for path in sources)
    read = set(re.findall(r"""(?:text|flag|integer|items|lease|get)\(\s*"([A-Z][A-Z_]+)\"""", text))
    read = {name for name in read if not name.startswith(("HTTP_", "REMOTE_"))}
    read |= set(re.findall(r'name: str = "([A-Z][A-Z_]+)"', text))
    told = set()
    for cell in readme.first_cells(readme.section("Environment")):
        told |= readme.code_words(cell)
    assert read - told - {"PYTHONPATH"} == set()
    assert told - read == set()


def test_the_production_commands_are_those_that_up_starts() -> None:
    block = readme.blocks("text", readme.section("Production"))[0].replace("\\\n", "")
    commands = [shlex.split(line) for line in block.splitlines()]
    here = [[sys.executable, *words[1:]] for words in commands if words[1] == "-m"]
    data = Path("$AGENTADMIN_DATA")
    static = Path("static/dist")
    wanted = [programs.web("0.0.0.0", 8000, readme.ROOT / static), programs.worker()]
    wanted.append(programs.beat(data))
    plain = [
        [*words[:1], *(word.replace(f"{readme.ROOT}/", "") for word in words[1:])]
        for words in wanted
    ]
    assert here == plain


def test_the_tour_names_what_the_pages_say_and_its_browser_test_does() -> None:
    tour = readme.section("Five minutes")
    pages = "".join(p.read_text() for p in (readme.ROOT / "templates").rglob("*.html"))
    apps = [*readme.ROOT.glob("*_app/pages/*.py")]
    said = pages + "".join(p.read_text() for p in apps)
    labels = set(re.findall(r"\*\*([^*]+)\*\*", tour.replace("\n   ", " ")))
    assert len(labels) > 10
    assert [label for label in labels if label not in said] == []
    steps = (readme.ROOT / "tests/browser/test_tour.py").read_text()
    for message in re.findall(r"`(/[a-z]+ [^`]*\d[^`]*)`", tour.partition("The offline model")[0]):
        assert message in steps


def test_the_picture_is_there_and_small() -> None:
    for name in re.findall(r"!\[[^]]+\]\(([^)]+)\)", readme.TEXT):
        assert 1_000 < (readme.ROOT / name).stat().st_size < 200_000


def test_no_line_names_a_machine_or_is_too_long() -> None:
    prose = [line for line in readme.TEXT.splitlines() if not line.startswith("|")]
    assert [line for line in prose if len(line) > 110] == []
    assert not re.search(r"/(work|root|home)/|pypi|registry\.", readme.TEXT)
