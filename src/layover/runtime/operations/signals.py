"""Signals from other systems, by name and key."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import msgspec

from layover.core.payloads import plain
from layover.core.signal_texts import fault_in
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError
from layover.ports.records import Signal
from layover.runtime.errors import InvalidInput
from layover.runtime.operations.control import Control

if TYPE_CHECKING:
    from layover.ports.records import AuditEntry

_log = logging.getLogger("layover.signals")


class Delivered(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a delivery: the executions that matched; a `repeated` signal is ignored."""

    id: str
    matched: tuple[str, ...] = ()
    repeated: bool = False


class Signals(Control):
    """The operation of an engine that delivers signals."""

    async def deliver(
        self,
        name: str,
        key: str = "",
        data: object = None,
        *,
        id: str | None = None,  # noqa: A002 - as everybody says
        audit: AuditEntry | None = None,
    ) -> Delivered:
        """Bring a signal: whoever waits for it goes on, and it is kept for those who will look back."""
        instance = self.instance
        now = instance.clock.now()
        signal_id = id if id is not None else instance.machine.ids.new(now)
        _check_texts(name=name, key=key, id=signal_id)
        signal = Signal(id=signal_id, name=name, key=key, at=now, data=msgspec.json.encode(plain(data)))
        if not await instance.store.keep_signal(signal, audit):
            return Delivered(id=signal_id, repeated=True)
        reached(CommitPoint.SIGNAL_KEPT)
        try:
            matched = await instance.signal_router.dispatch(signal)
        except StoreError as error:  # it is taken, and stays undispatched: any instance comes back to it
            _log.warning("dispatch_failed signal=%s error=%s", signal_id, error.message)
            matched = ()
        return Delivered(id=signal_id, matched=matched)


def _check_texts(**texts: object) -> None:
    for what, text in texts.items():
        fault = fault_in(what, text)
        if fault is not None:
            raise InvalidInput(fault, ((what, fault),))
