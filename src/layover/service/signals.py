"""Signals as one user sends them, and replies to callbacks, which a token or a point allows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from layover.core.ids import uuid8
from layover.runtime.queries.views import context_of
from layover.service.actor import Actor
from layover.service.permissions import NOBODY, PROGRAM

if TYPE_CHECKING:
    from layover.model.signals import SignalReceipt
    from layover.ports.records import AuditRow, PointRow


class SignalService:
    """What systems outside tell executions."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def send(
        self,
        name: str,
        data: object,
        key: str,
        id: str | None,  # noqa: A002 - as the interface
        idempotency_key: str | None = None,
    ) -> SignalReceipt:
        """Send a signal; one with an id that is known is ignored."""
        actor, act = self._actor, "signal.send"
        actor.require("execution:start")
        known = actor.key(act, "", idempotency_key)
        now = actor.runtime.instance.clock.now()
        given = id if id is not None or known is None else uuid8(known)
        signal_id = given if given is not None else actor.runtime.instance.machine.ids.new(now)
        entry = actor.entry(act, name, key=known, signal=signal_id)
        return await actor.runtime.signals.deliver(name, key, data, id=signal_id, audit=entry)

    async def complete(self, token: str | None, point_id: str | None, output: object) -> None:
        """Give the output that a callback node waits for."""
        self._check(point_id)
        entry = partial(self._entry, "callback.complete", token)
        await self._actor.runtime.callbacks.reply(token, output, point=point_id, entry=entry)

    async def fail(self, token: str | None, point_id: str | None, message: str, *, retryable: bool) -> None:
        """Say that what a callback node waits for has failed."""
        self._check(point_id)
        entry = partial(self._entry, "callback.fail", token)
        await self._actor.runtime.callbacks.fail(token, message, retryable=retryable, point=point_id, entry=entry)

    async def heartbeat(self, token: str | None, point_id: str | None) -> None:
        """Say that what a callback node waits for is still being worked at."""
        self._check(point_id)
        await self._actor.runtime.callbacks.beat(token, point=point_id)

    def _entry(self, act: str, token: str | None, row: PointRow) -> AuditRow | None:
        """Return what is written with a reply; heartbeats, of which there are many, say nothing.

        A token says no name: whoever has it may reply, also on a door that has a user.
        """
        actor, point = self._actor, row.point
        if token is not None:
            actor = Actor(actor.runtime, NOBODY, request_id=actor.request_id, address=actor.address)
        return actor.entry(act, point.id, execution_id=row.execution_id, context_id=context_of(point))

    def _check(self, point_id: str | None) -> None:
        """Accept a point instead of its token only from operators: the token is the credential otherwise."""
        if point_id is not None and self._actor.caller is not PROGRAM:
            self._actor.require("execution:cancel")
