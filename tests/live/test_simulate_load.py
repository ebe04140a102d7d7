"""`simulate_load` against the running product: bounded, honest about refusals, tidy."""

import json
import socket
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings

from agentadmin.access.models import ApiToken
from agentadmin.ops.load import Figures, is_loopback, spread
from sessions_app.models import AgentSession
from tests.services.product import Product


def run(product: Product, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "simulate_load", "--url", product.url, *arguments],
        cwd=settings.BASE_DIR,
        env=product.environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_turns_are_made_at_a_rate_and_followed_to_their_end(product: Product) -> None:
    done = run(product, *["--sessions", "3", "--rate", "20", "--seconds", "1"], "--json")
    told: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode, told["ok"]) == (0, True), done.stderr
    assert told["sessions"] == 3
    assert told["turns"] == {"submitted": 20, "completed": 20}
    assert told["refused"] == {}
    for name in ("create_ms", "submit_ms", "turn_ms"):
        assert 0 < told[name]["p50"] <= told[name]["p95"] <= told[name]["max"]
    assert "3 sessions made" in done.stderr
    prefix = told["session_prefix"]
    assert (
        f"3 sessions stay, for you to look at or to erase: {product.url}/sessions?q={prefix}"
        in (done.stderr)
    )
    assert AgentSession.objects.filter(session_id__startswith=prefix).count() == 3
    assert not ApiToken.objects.filter(name="simulate_load", revoked_at=None).exists()


def test_turns_that_fail_are_counted_and_are_a_failure(product: Product) -> None:
    small = ["--sessions", "1", "--rate", "2", "--seconds", "1"]
    done = run(product, *small, "--text", "/fail permanent")
    assert done.returncode == 1
    assert "turns: 2 submitted, 2 failed;" in done.stdout
    assert done.stderr.strip().endswith("Not everything was taken and ended.")


def test_where_nothing_listens_is_said_once_with_its_address(product: Product) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
    done = run(product, "--url", url)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Nothing answers at {url} (")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--sessions 0", "--sessions must be above 0 and at most 10000."),
        ("--rate 501", "--rate must be above 0 and at most 500."),
        (
            "--url https://example.org",
            "https://example.org is another machine: say --allow-remote if you mean it.",
        ),
    ],
)
def test_what_is_too_much_or_elsewhere_is_refused_before_anything_is_done(
    product: Product, arguments: str, sentence: str
) -> None:
    done = run(product, *arguments.split())
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", sentence)


def test_figures_are_medians_of_what_was_measured() -> None:
    assert spread([]) is None
    assert spread([3.0, 1.0, 2.0]) == {"p50": 2.0, "p95": 3.0, "max": 3.0}
    assert [is_loopback(f"http://{host}:1") for host in ("localhost", "[::1]", "10.0.0.1")] == [
        True,
        True,
        False,
    ]
    figures = Figures(create=[1.0], submit=[1.0])
    figures.states["completed"] = 1
    assert figures.ok
    figures.states["unfinished"] = 1
    assert not figures.ok
