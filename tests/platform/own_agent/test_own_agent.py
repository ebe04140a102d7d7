"""The README's own agent, word for word: a package of the user's, and a turn through the API."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.platform import readme
from tests.services.folder import FOLDER
from tests.services.product import until
from tests.services.upping import OURS, Up

pytestmark = pytest.mark.live


def snippet() -> str:
    """The code of the section, as it stands."""
    return readme.blocks("python", readme.section("An agent of your own"))[0]


def setting() -> str:
    """What the section's command sets AGENTADMIN_AGENTS to."""
    block = readme.blocks("sh", readme.section("An agent of your own"))[0]
    words = block.split()
    assert words[1:] == ["make", "run"]
    return words[0].removeprefix("AGENTADMIN_AGENTS=")


@pytest.fixture(scope="module")
def api() -> Iterator[httpx.Client]:
    """The product with the package on its path, seen through a token."""
    package = FOLDER / "own-agent" / setting().partition(":")[0]
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(snippet())
    data = FOLDER / "own-agent-data"
    data.mkdir()
    (data / "demo-seeded").touch()
    own = {"PYTHONPATH": str(package.parent), "AGENTADMIN_AGENTS": setting()}
    up = Up(data, **own)
    try:
        up.ready()
        headers = {"Authorization": f"Bearer {token(data, own)}"}
        base = f"http://127.0.0.1:{up.port}/api/v1"
        with httpx.Client(base_url=base, headers=headers, timeout=20) as client:
            yield client
    finally:
        up.close()


def token(data: Path, own: dict[str, str]) -> str:
    inherited = {name: value for name, value in os.environ.items() if name not in OURS}
    wanted = {"AGENTADMIN_DATA": str(data), "DJANGO_SETTINGS_MODULE": "agentadmin.settings"}
    done = subprocess.run(
        [sys.executable, "manage.py", "create_token", "--user", "admin"],
        cwd=readme.ROOT,
        env={**inherited, **own, **wanted},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def answer(client: httpx.Client, method: str, path: str, body: Any = None) -> Any:
    got = client.request(method, path, json=body)
    assert got.is_success, got.text
    return got.json()


def turn(client: httpx.Client, thread: str, text: str, state: str) -> Any:
    """Submit a turn and wait until it stands in a state."""
    sent = answer(client, "POST", f"/threads/{thread}/turns", {"input": text})

    def settled() -> Any:
        found = answer(client, "GET", f"/turns/{sent['turn_id']}")
        return found["state"] == state and found

    return until(settled, f"{text} is {state}")


def test_the_snippet_is_ten_lines_of_code() -> None:
    code = [line for line in snippet().splitlines() if line.strip()]
    assert len(code) <= 10


def test_a_turn_of_the_own_agent_asks_and_then_uses_its_tool(api: httpx.Client) -> None:
    session = answer(api, "POST", "/sessions", {"agent_id": "loud", "session_id": "mine"})
    thread = session["threads"][0]["id"]
    waiting = turn(api, thread, '/tool shout {"text": "hello"}', "waiting")
    assert waiting["wait"]["kind"] == "approval"
    (asked,) = answer(api, "GET", f"/interactions?status=pending&thread_id={thread}")["items"]
    assert (asked["tool"], asked["input"]) == ("shout", {"text": "hello"})

    decision = {"decision": "approve", "call_hash": asked["call_hash"], "request_id": "r-1"}
    answer(api, "POST", f"/interactions/{asked['id']}/respond", decision)

    def completed() -> Any:
        found = answer(api, "GET", f"/turns/{waiting['id']}")
        return found["state"] == "completed" and found

    assert until(completed, "the call ran")["outcome"] == "done"
    messages = answer(api, "GET", f"/threads/{thread}/transcript")
    assert "shout returned: HELLO!" in str(messages)


def test_the_demo_agent_is_still_there(api: httpx.Client) -> None:
    session = answer(api, "POST", "/sessions", {"agent_id": "demo"})
    assert turn(api, session["threads"][0]["id"], "/echo hi", "completed")["outcome"] == "done"
