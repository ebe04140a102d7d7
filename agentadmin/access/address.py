"""The caller's address; what a proxy claims counts only when the proxy is trusted."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from collections.abc import Sequence


def client_address(peer: str, forwarded_for: str) -> str | None:
    """The first address, from the nearest on, that is not a trusted proxy's."""
    hops = [hop.strip() for hop in forwarded_for.split(",") if hop.strip()]
    trusted: Sequence[str] = settings.TRUSTED_PROXIES
    nearest = peer
    while hops and _is_among(nearest, trusted):
        nearest = hops.pop()
    return _canonical(nearest)


def _is_among(address: str, networks: Sequence[str]) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in ip_network(network, strict=False) for network in networks)


def _canonical(address: str) -> str | None:
    try:
        return str(ip_address(address))
    except ValueError:
        return None
