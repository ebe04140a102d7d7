"""Looks from outside whether the address is free, the store answers, the product is ready."""

import http.client
import json
import socket
from pathlib import Path

from agentadmin.supervisor.data import CannotStartError


def refuse_busy_port(host: str, port: int) -> None:
    """Say so before anything is started if another program has the address."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise CannotStartError(
                f"The address {host}:{port} cannot be used ({error.strerror}); set PORT to another."
            ) from None


def answers(path: Path) -> bool:
    """Whether a Valkey server answers on this socket with its data loaded."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        try:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(64).startswith(b"+PONG")
        except OSError:
            return False


def reachable(host: str) -> str:
    """The address at which this machine reaches a server that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared only


def readiness(host: str, port: int) -> dict[str, str] | None:
    """What `/readyz` says of each part; nothing while the web server does not answer."""
    connection = http.client.HTTPConnection(reachable(host), port, timeout=2)
    try:
        connection.request("GET", "/readyz", headers={"Host": "localhost"})
        body = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    checks: dict[str, str] = body["checks"]
    return checks
