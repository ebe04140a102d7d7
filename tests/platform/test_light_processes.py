"""What a process loads before it needs it: no model SDK weighs on a worker or a web server."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"openai", "anthropic", "httpx2"}
LOADED = """
import sys
import django
django.setup()
import {module}
print(*sorted(set(sys.modules) & {heavy!r}))
"""


@pytest.mark.parametrize("module", ["runs_app.tasks", "agentadmin.asgi"])
def test_no_model_sdk_is_loaded_before_a_model_is_asked(module: str, tmp_path: Path) -> None:
    program = LOADED.format(module=module, heavy=HEAVY)
    environment = {
        "DJANGO_SETTINGS_MODULE": "agentadmin.settings",
        "AGENTADMIN_DATA": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "PYTHONPATH": str(Path.cwd()), **environment},
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
