"""Where requests come from: the peer of the connection, or whom it names if it is a proxy that is trusted.

Any client can write `X-Forwarded-For`. Each proxy adds the peer that it saw at the right, so the rightmost address
that is no trusted proxy is the last one that a trusted proxy has seen.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Scope


class TrustedProxies:
    """The proxies whose word is taken for where a request comes from, as addresses or networks."""

    def __init__(self, trusted: Iterable[str] = ()) -> None:
        self._networks = tuple(ip_network(one, strict=False) for one in trusted)

    def is_trusted(self, host: str) -> bool:
        """Return whether a host is one of them."""
        address = _parsed(host)
        return address is not None and any(address in network for network in self._networks)

    def address_of(self, scope: Scope) -> str:
        """Return what a request is counted by: the address that it comes from, or its network."""
        return network_of(self.host_of(scope))

    def host_of(self, scope: Scope) -> str:
        """Return the address that a request comes from, as far as it can be trusted."""
        host: str = (scope.get("client") or ("",))[0]
        if self._networks and self.is_trusted(host):
            for named in reversed(_forwarded_for(scope)):
                if _parsed(named) is None:
                    break
                host = named
                if not self.is_trusted(named):
                    break
        return host


def network_of(host: str) -> str:
    """Return what a host is counted by; a network of IPv6 is one place, since each machine has as many as it likes."""
    address = _parsed(host)
    if address is None:
        return host
    return str(address) if isinstance(address, IPv4Address) else str(ip_network((address.packed, 64), strict=False))


def _parsed(host: str) -> IPv4Address | IPv6Address | None:
    """Return an address; one of IPv4 that is written as IPv6 as what it is."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _forwarded_for(scope: Scope) -> list[str]:
    """Return the addresses that proxies have noted, without ports."""
    lines = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return [_without_port(one.strip()) for one in ",".join(lines).split(",")] if lines else []


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
