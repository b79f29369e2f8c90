"""Where a server may listen: without any keys, only where nobody else can reach it."""

from __future__ import annotations

from ipaddress import ip_address


def may_listen(host: str, *, has_keys: bool) -> bool:
    """Return whether a server may listen at an address."""
    return has_keys or is_loopback(host)


def is_loopback(host: str) -> bool:
    """Return whether an address is only of the machine itself; a name other than `localhost` may be anybody's."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
