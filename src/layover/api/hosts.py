"""By which names the server is called: a page on the web cannot pass for its own (DNS rebinding).

A browser lets a page of `evil.example` read what comes from `evil.example`, also when that name leads to 127.0.0.1 by
then; but it says the name as `Host`. A host that is an address cannot have been redirected by a name server.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

ANY: Final = "*"


class KnownHosts:
    """The names that a server answers to; without any, it answers to all, but none of them is its own machine."""

    def __init__(self, names: Iterable[str] | None) -> None:
        given = {_plain(name) for name in names} if names is not None else {ANY}
        self._any = ANY in given
        self._names = frozenset(name for name in given if not name.startswith("*"))
        self._below = tuple(name[1:] for name in given if name.startswith("*."))

    def is_answered(self, host: str | None) -> bool:
        """Return whether requests to a host are answered: as it stands in the header, with or without a port."""
        return self._any or host is None or is_own_address(host) or self.is_named(host)

    def is_named(self, host: str) -> bool:
        """Return whether a host is one of the names that are set."""
        name = _name_of(host)
        return name in self._names or name.endswith(self._below)


def is_own_address(host: str) -> bool:
    """Return whether a host is an address, or `localhost`: no name that leads wherever its owner likes."""
    name = _name_of(host)
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _name_of(host: str) -> str:
    """Return a host without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return _plain(host.partition(":")[0])


def _plain(name: str) -> str:
    return name.strip().lower().rstrip(".")
