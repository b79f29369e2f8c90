"""The addresses of the public internet."""

from __future__ import annotations

import socket

import pytest

from layover.nodes.http_addresses import AddressRefused, anywhere, guard_sockets, is_public


@pytest.mark.parametrize(
    "address",
    [
        *("8.8.8.8", "93.184.216.34", "2606:4700:4700::1111"),
        *("64:ff9b::8.8.8.8", "::ffff:8.8.8.8"),  # a public one, reached in another way
    ],
)
def test_public_addresses_may_be_reached(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1"),  # noqa: S104
        *("169.254.169.254", "224.0.1.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),
        *("::", "::1", "fe80::1", "fe80::1%1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1"),
        *("64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::8.8.8.8"),
        *("2002:7f00:1::", "2002:a00:1::1", "2001::1", "100::1", "4000::1"),
        *("", "localhost", "127.1", "0x7f.1"),
    ],
)
def test_addresses_that_are_not_public_may_not_be_reached(address: str) -> None:
    assert not is_public(address)


def test_a_socket_is_made_only_for_allowed_addresses() -> None:
    info = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 80))
    guard_sockets(anywhere)(info).close()
    with pytest.raises(AddressRefused):
        guard_sockets(is_public)(info)
