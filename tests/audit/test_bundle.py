"""An exported bundle proves itself; one flipped byte is found and named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Q

from agentadmin.access.actor import Actor, ActorKind, Grant
from agentadmin.access.permissions import permissions_of
from agentadmin.audit.bundle import verify_bundle
from agentadmin.audit.erase import erase_bodies
from agentadmin.audit.export import bundle_lines
from tests.audit.conftest import Write

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]


def reader(namespace: str = "*", agent: str = "*") -> Actor:
    grant = Grant(permissions_of("auditor"), namespace, agent)
    return Actor(kind=ActorKind.USER, id="1", name="ann", grants=(grant,))


@pytest.fixture
def lines(write: Write) -> list[str]:
    for number in range(5):
        write(reason=f"擅长 {number}", target_id=f"s-{number}")
    write(namespace=None)
    erase_bodies(Q(within="s-3"))
    return list(bundle_lines(reader()))


def test_an_untouched_bundle_verifies(lines: list[str]) -> None:
    assert verify_bundle(lines) == {"ok": True, "checked": 6, "erased": 1, "first_bad": None}


def test_one_flipped_byte_is_found_wherever_it_is(lines: list[str]) -> None:
    for number in range(1, len(lines)):
        for position in range(2, len(lines[number]), 37):
            altered = list(lines)
            text = altered[number]
            flipped = chr(ord(text[position]) ^ 1)
            altered[number] = text[:position] + flipped + text[position + 1 :]
            assert not verify_bundle(altered)["ok"], (number, position, text[position])


def test_a_missing_line_is_named(lines: list[str]) -> None:
    numbers = [json.loads(line)["n"] for line in lines[1:]]
    assert numbers == [1, 2, 3, 4, 5, 1]
    without = [line for index, line in enumerate(lines) if index != 3]
    assert verify_bundle(without)["first_bad"] == {
        "chain": "default",
        "n": 3,
        "why": "entry 3 is missing (line 4)",
    }


def test_a_bundle_that_ends_too_early_is_named(lines: list[str]) -> None:
    assert verify_bundle(lines[:5])["first_bad"]["n"] == 5


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "not JSON", '{"bundle":"x"}'])
def test_what_is_no_bundle_is_refused_by_its_first_line(text: str) -> None:
    assert "line 1" in verify_bundle([text])["first_bad"]["why"]


def test_a_reader_of_one_namespace_exports_that_chain_only(lines: list[str]) -> None:
    own = list(bundle_lines(reader("default")))
    assert {json.loads(line)["chain"] for line in own[1:]} == {"default"}
    assert verify_bundle(own)["ok"]


def test_a_reader_of_some_agents_exports_nothing_that_tells_of_others(lines: list[str]) -> None:
    assert len(list(bundle_lines(reader("default", "other-*")))) == 1
    assert len(list(bundle_lines(reader("default", "d*")))) == 6


def test_the_command_verifies_a_bundle(lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "bundle.jsonl"
    path.write_text("\n".join(lines))
    call_command("verify_audit", str(path))
    path.write_text("\n".join(lines[:-1]))
    with pytest.raises(CommandError, match="altered"):
        call_command("verify_audit", str(path))


def test_a_bundle_is_verified_without_django_or_a_database(
    lines: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "bundle.jsonl"
    path.write_text("\n".join(lines))
    code = (
        "import sys; from agentadmin.audit.bundle import verify_bundle;"
        "ok = verify_bundle(open(sys.argv[1], 'rb'))['ok'];"
        "sys.exit(not ok or 'django' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False)
    assert done.returncode == 0
