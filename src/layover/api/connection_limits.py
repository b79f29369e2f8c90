"""How many connections may be open: in all, and from one address, so that files are left for everything else.

Each connection is an open file, and a process without files can neither claim nor renew. Before a connection is made
it takes a slot. When there is none left, the connection that has been idle for longest makes room: one that has no
request in progress, which is all that strangers can hold. Behind the limit are a few slots in reserve: on those only
operators and the routes about health are answered.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import msgspec

from layover.api.trusted_proxies import network_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.api.settings import ApiSettings
    from layover.api.trusted_proxies import TrustedProxies

_log = logging.getLogger("layover.api")

_MOST: Final = 10_000  # if the files would allow more
_USUAL_FILES: Final = 512  # where the limit is not known


class ConnectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How many connections may be open in all, from one address, and beyond that for operators."""

    most: int
    by_address: int
    reserved: int


def limits_of(settings: ApiSettings, files: int | None = None) -> ConnectionLimits:
    """Return the limits that are set, but never more than three quarters of the `files` that a process may open."""
    files = files if files is not None else open_files_limit()
    reserved = settings.connections_reserved
    room = max(1, min(_MOST, files * 3 // 4) - reserved)
    most = room if settings.connections is None else min(settings.connections, files * 3 // 4)
    if settings.connections is not None and most < settings.connections:
        _log.warning("connections_lowered wanted=%d taken=%d open_files_limit=%d", settings.connections, most, files)
    by_address = max(1, most // 2) if settings.connections_by_address is None else settings.connections_by_address
    return ConnectionLimits(most=most, by_address=by_address, reserved=reserved)


def open_files_limit() -> int:
    """Return how many files this process may have open."""
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return _USUAL_FILES
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST * 2 if soft == resource.RLIM_INFINITY else soft


class Slot:
    """The place of one connection."""

    __slots__ = ("address", "is_reserved")

    def __init__(self, address: str, *, is_reserved: bool) -> None:
        self.address = address
        self.is_reserved = is_reserved


class _Address:
    """The connections of one address: all of them, and those that are idle, the oldest first."""

    __slots__ = ("count", "idle")

    def __init__(self) -> None:
        self.count = 0
        self.idle: OrderedDict[Slot, Callable[[], None]] = OrderedDict()


class ConnectionSlots:
    """Gives out slots, and takes them back."""

    def __init__(self, limits: ConnectionLimits, proxies: TrustedProxies) -> None:
        self._limits = limits
        self._proxies = proxies
        self._addresses: dict[str, _Address] = {}
        self._idle: OrderedDict[Slot, Callable[[], None]] = OrderedDict()
        self._taken: set[Slot] = set()

    @property
    def count(self) -> int:
        """How many connections are open."""
        return len(self._taken)

    @property
    def is_full(self) -> bool:
        """Whether there are more connections than are answered for all callers."""
        return self.count > self._limits.most

    def take(self, host: str) -> Slot | None:
        """Return a slot for a connection from a host; None if there is no room for it."""
        limits, address = self._limits, network_of(host)
        known = self._addresses.get(address)
        if known is not None and known.count >= limits.by_address and not self._proxies.is_trusted(host):
            if not known.idle:
                return None
            self._close(next(iter(known.idle)))
        if self.count >= limits.most and self._idle:
            self._close(next(iter(self._idle)))
        if self.count >= limits.most + limits.reserved:
            return None
        slot = Slot(address, is_reserved=self.count >= limits.most)
        self._taken.add(slot)
        self._addresses.setdefault(address, _Address()).count += 1
        return slot

    def rest(self, slot: Slot, close: Callable[[], None]) -> None:
        """Note that a connection is idle from now on, and how it is closed if another one needs its place."""
        if slot in self._taken:
            self._idle[slot] = self._addresses[slot.address].idle[slot] = close

    def work(self, slot: Slot) -> None:
        """Note that a request is in progress on a connection."""
        if self._idle.pop(slot, None) is not None:
            del self._addresses[slot.address].idle[slot]

    def free(self, slot: Slot) -> None:
        """Take back a slot; also one that was taken back before."""
        if slot not in self._taken:
            return
        self.work(slot)
        self._taken.remove(slot)
        known = self._addresses[slot.address]
        known.count -= 1
        if not known.count:
            del self._addresses[slot.address]

    def _close(self, slot: Slot) -> None:
        close = self._idle[slot]
        self.free(slot)
        close()
