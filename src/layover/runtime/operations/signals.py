"""Signals from other systems, by name and key."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import msgspec

from layover.core.payloads import plain
from layover.core.signal_texts import fault_in
from layover.errors import InvalidInput
from layover.model.signals import SignalReceipt
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError
from layover.ports.records import Signal

if TYPE_CHECKING:
    from layover.ports.records import AuditRow
    from layover.ports.store import Store
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.signal_router import SignalRouter
    from layover.runtime.ids import Ids

_log = logging.getLogger("layover.signals")


class Signals:
    """Takes signals from other systems."""

    def __init__(self, store: Store, clock: Clock, ids: Ids, router: SignalRouter) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._router = router

    async def deliver(
        self,
        name: str,
        key: str = "",
        data: object = None,
        *,
        id: str | None = None,  # noqa: A002 - the word of the field
        audit: AuditRow | None = None,
    ) -> SignalReceipt:
        """Deliver a signal to the executions that wait for it, and store it for those that look back later."""
        now = self._clock.now()
        signal_id = id if id is not None else self._ids.new(now)
        _check_texts(name=name, key=key, id=signal_id)
        signal = Signal(id=signal_id, name=name, key=key, at=now, data=msgspec.json.encode(plain(data)))
        with self._router.sending(signal_id):
            if not await self._store.signals.add(signal, audit):
                return SignalReceipt(id=signal_id, repeated=True)
            reached(CommitPoint.SIGNAL_KEPT)
            try:
                matched = await self._router.dispatch(signal)
            except StoreError as error:  # it is taken, and stays undispatched: any instance comes back to it
                _log.warning("dispatch_failed signal=%s error=%s", signal_id, error.message)
                matched = ()
        return SignalReceipt(id=signal_id, matched=matched)


def _check_texts(**texts: object) -> None:
    for what, text in texts.items():
        fault = fault_in(what, text)
        if fault is not None:
            raise InvalidInput(fault, ((what, fault),))
