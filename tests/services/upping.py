"""Runs `manage.py up` as a person would, and looks at what it started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
from django.conf import settings

from agentadmin import env
from agentadmin.supervisor import probe
from tests.services.product import free_port, until

OURS = ("DATABASE_URL", "REDIS_URL", "BROKER_URL", "DATABASE_POOL")


class Up:
    """One `manage.py up` on a data folder."""

    def __init__(self, data: Path, port: int | None = None, **environment: str) -> None:
        self.data = data
        self.port = port or free_port()
        self.output = data.with_suffix(".out")
        inherited = {k: v for k, v in os.environ.items() if k not in OURS}
        wanted = {"AGENTADMIN_DATA": str(data), "PORT": str(self.port), **environment}
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=settings.BASE_DIR,
                env={**inherited, "DJANGO_SETTINGS_MODULE": "agentadmin.settings", **wanted},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def said(self) -> str:
        """Everything on its terminal so far."""
        return self.output.read_text()

    def ready(self) -> "Up":
        """Wait for the line that says so."""
        until(lambda: "is ready at" in self.said() or self.ended(), "up is ready", 60)
        assert "is ready at" in self.said(), self.said()
        return self

    def ended(self) -> bool:
        return self.process.poll() is not None

    def wait(self, seconds: float = 20) -> int:
        """Its exit code."""
        return self.process.wait(seconds)

    def children(self) -> list[psutil.Process]:
        """Every process that carries this data folder in its environment, but `up` itself."""
        found = []
        for process in psutil.process_iter():
            try:
                ours = process.environ().get("AGENTADMIN_DATA") == str(self.data)
                if ours and process.pid != self.process.pid and process.status() != "zombie":
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return found

    def store_answers(self) -> bool:
        """Whether the embedded Valkey runs (it hides its environment from `children`)."""
        return probe.answers(env.socket_folder(self.data) / "valkey.sock")

    def child(self, *words: str) -> psutil.Process | None:
        """The child whose command line has these words."""
        for process in self.children():
            line = process.cmdline()
            if all(word in line for word in words):
                return process
        return None

    def close(self) -> None:
        """Leave nothing, whatever the test found."""
        if not self.ended():
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(8)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        until(lambda: not self.children(), "every child is gone")
