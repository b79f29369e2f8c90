"""Which addresses are only of the machine itself: there a server may listen without any keys."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Return whether an address is only of the machine itself; a name other than `localhost` may be elsewhere."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
