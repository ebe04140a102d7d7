"""A forged X-Forwarded-For is ignored; a trusted proxy's is believed."""

import pytest
from pytest_django.fixtures import Settings

from agentadmin.access.address import client_address


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "address"),
    [
        ([], "192.0.2.1", "10.0.0.1", "192.0.2.1"),
        (["10.0.0.0/8"], "192.0.2.1", "10.0.0.1", "192.0.2.1"),
        (["10.0.0.0/8"], "10.0.0.9", "198.51.100.7", "198.51.100.7"),
        (["10.0.0.0/8"], "10.0.0.9", "1.1.1.1, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
        (["10.0.0.0/8"], "10.0.0.9", "", "10.0.0.9"),
        (["::1"], "::1", "2001:DB8::1", "2001:db8::1"),
        (["10.0.0.0/8"], "10.0.0.9", "<script>", None),
        ([], "", "", None),
    ],
)
def test_the_nearest_untrusted_hop_is_the_caller(
    settings: Settings, trusted: list[str], peer: str, forwarded: str, address: str | None
) -> None:
    settings.TRUSTED_PROXIES = trusted
    assert client_address(peer, forwarded) == address
