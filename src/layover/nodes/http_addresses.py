"""The addresses that requests may reach: by default only the public internet.

A definition, or the data that an address is made of, may come from strangers: they must not reach services that only
this machine can. So the address is checked when a socket for it is made: that is after its name was resolved, and for
every redirect too.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohappyeyeballs import AddrInfoType, SocketFactoryType

_UNICAST = IPv6Network("2000::/3")  # all that is given out so far
_NAT64 = IPv6Network("64:ff9b::/96")  # the last four bytes are an IPv4 address behind a gateway


class AddressRefused(OSError):  # noqa: N818 - it says what was done
    """An address to which no connection is made; the text is constant, so that it reveals nothing."""

    def __init__(self) -> None:
        super().__init__("The address is not public.")


def is_public(address: str) -> bool:
    """Return whether an IP address belongs to the public internet."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        inner = _inner(found)
        if inner is None:
            return found in _UNICAST and found.is_global
        found = inner
    return found.is_global and not found.is_multicast


def anywhere(address: str) -> bool:  # noqa: ARG001 - every address is allowed
    """Allow any address."""
    return True


def guard_sockets(may_reach: Callable[[str], bool]) -> SocketFactoryType:
    """Return a socket factory that refuses addresses which may not be reached."""

    def make(info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _, address = info
        if family not in (socket.AF_INET, socket.AF_INET6) or not may_reach(str(address[0])):
            raise AddressRefused
        return socket.socket(family, kind, protocol)

    return make


def _inner(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address inside an IPv6 address."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour
