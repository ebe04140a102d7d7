"""`http_get`: reads a public web address, and nothing inside the network that the server is in.

The name is resolved once, every address is checked, and the connection goes to a checked address:
a name that answers differently the second time gains nothing. Redirects are checked like the first.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Annotated
from urllib.parse import SplitResult, urljoin, urlsplit

from agentadmin.engine.errors import ToolError
from agentadmin.engine.tools.toolkit import Effect, tool

SECONDS = 20.0
MAX_BYTES = 1_000_000
MAX_TEXT = 200_000
MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NAT64 = IPv6Network("64:ff9b::/96")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came back: the status, where it leads on, and the text."""

    status: int
    location: str | None
    text: str


# Not read-only: an address can carry what the agent knows to a stranger.
@tool(effect=Effect.NONE, read_only=False, plan_mode_allowed=True, timeout=SECONDS * 2)
def http_get(url: Annotated[str, "An http or https address", {"maxLength": 8000}]) -> str:
    """Read a public web address; private ones are refused."""
    until = time.monotonic() + SECONDS
    for _ in range(MAX_REDIRECTS + 1):
        parts = _checked(url)
        try:
            answer = _get(parts, until)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ToolError(f"{parts.hostname}: {error or type(error).__name__}") from error
        if answer.location is None:
            head = f"{answer.status} {http.client.responses.get(answer.status, '')}".strip()
            mark = "" if answer.status < 400 else "[ERROR] "
            return f"{mark}{head}\n\n{answer.text}"
        url = urljoin(url, answer.location)
    raise ToolError(f"more than {MAX_REDIRECTS} redirects")


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ToolError(f"this is no address: {error}") from error
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise ToolError("only http and https addresses can be read")
    if parts.username is not None or parts.password is not None:
        raise ToolError("an address must not carry a password")
    if port == 0:
        raise ToolError("there is no port 0")
    return parts


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, also in its disguises."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


def _address(host: str, port: int) -> tuple[int, str]:
    """The first address of a name, if all of them are public."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [(int(family), str(place[0])) for family, _, _, _, place in found]
    private = [address for _, address in addresses if not is_public(address)]
    if private or not addresses:
        raise ToolError(f"{host} is a private address, which this tool does not read")
    return addresses[0]


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _get(parts: SplitResult, until: float) -> _Answer:
    host = str(parts.hostname)
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    _, address = _address(host, port)
    connection = http.client.HTTPConnection(host, port, timeout=_left(until))
    # Connected here, to the address that was checked, and never by name again.
    plain = socket.create_connection((address, port), timeout=_left(until))
    secure = parts.scheme == "https"
    connection.sock = _tls().wrap_socket(plain, server_hostname=host) if secure else plain
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = {"Accept": "text/*, application/json;q=0.9, */*;q=0.1"}
        connection.request("GET", target, headers=headers | {"User-Agent": "AgentAdmin"})
        answer = connection.getresponse()
        location = answer.getheader("Location") if answer.status in _REDIRECTS else None
        text = "" if location else _text(answer, connection.sock, until)
        return _Answer(answer.status, location, text)
    finally:
        connection.close()


def _text(answer: http.client.HTTPResponse, sock: socket.socket | None, until: float) -> str:
    """At most a megabyte, and never beyond the deadline, however slowly it drips."""
    data = bytearray()
    while len(data) < MAX_BYTES:
        if sock is not None:
            sock.settimeout(_left(until))
        piece = answer.read1(min(65_536, MAX_BYTES - len(data)))
        if not piece:
            break
        data += piece
    charset = answer.headers.get_content_charset() or "utf-8"
    try:
        text = bytes(data).decode(charset, errors="replace")
    except LookupError:
        text = bytes(data).decode("utf-8", errors="replace")
    cut = len(text) > MAX_TEXT or len(data) == MAX_BYTES
    return text[:MAX_TEXT] + ("\n… cut off here" if cut else "")


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError(f"no whole answer within {SECONDS:g} s")
    return left
