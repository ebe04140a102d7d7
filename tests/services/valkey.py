"""A real Valkey server for the tests, on a unix socket."""

from pathlib import Path

from agentadmin.supervisor import probe, programs
from tests.services.program import Program


def start(folder: Path) -> Program:
    """Start it in a folder of its own; the socket is `valkey.sock` in there."""
    folder.mkdir(parents=True, exist_ok=True)
    socket = folder / "valkey.sock"
    server = Program(programs.valkey(folder, socket), folder / "valkey.log")
    server.wait_for(lambda: probe.answers(socket), "Valkey")
    return server
