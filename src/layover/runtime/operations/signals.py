"""What systems outside tell executions: signals by name and key, and replies to what they were asked to do."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import msgspec

from layover.core.engine import commands as cmd
from layover.core.engine.answers import Refused
from layover.core.engine.command_codec import encode_command
from layover.core.engine.events import Error
from layover.core.payloads import plain
from layover.core.signal_texts import fault_in
from layover.nodes.callback_tokens import without_token
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError
from layover.ports.records import Enqueue, Signal
from layover.runtime.errors import CallbackRefused, InvalidInput
from layover.runtime.execution.callback_tokens import hash_of
from layover.runtime.ids import is_point_id
from layover.runtime.operations.control import Control

if TYPE_CHECKING:
    from layover.ports.records import AuditEntry, PointRow

_LONGEST_MESSAGE = 2_000

_log = logging.getLogger("layover.outside")


class Delivered(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a signal: which executions were told of it; one that was known before is ignored."""

    id: str
    matched: tuple[str, ...] = ()
    repeated: bool = False


class Outside(Control):
    """What an engine takes from systems outside."""

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
            matched = await instance.switchboard.dispatch(signal)
        except StoreError as error:  # it is taken, and stays undispatched: any instance comes back to it
            _log.warning("dispatch_failed signal=%s error=%s", signal_id, error.message)
            matched = ()
        return Delivered(id=signal_id, matched=matched)

    async def call_back(self, token: str | None = None, output: object = None, *, point: str | None = None) -> None:
        """Give the reply that a callback node waits for.

        Whoever has no token, and is trusted, names the `point` instead; so do the other two.
        """
        row = await self._waiting_for(token, point)
        kept = plain(output)
        if token is not None and token.encode() in msgspec.json.encode(kept):
            kept = without_token(kept, token)
        await self._reply(row, cmd.Report(point=row.point.id, output=kept))

    async def fail_callback(
        self, token: str | None = None, message: str = "", *, retryable: bool = True, point: str | None = None
    ) -> None:
        """Say that what a callback node waits for has failed."""
        row = await self._waiting_for(token, point)
        error = Error(code="callback_failed", message=_told(message, token), retryable=retryable)
        await self._reply(row, cmd.Report(point=row.point.id, error=error))

    async def beat(self, token: str | None = None, *, point: str | None = None) -> None:
        """Say that what a callback node waits for is still being worked at."""
        row = await self._waiting_for(token, point)
        if row.point.beat_by is None:
            return  # nobody listens for it
        kind, body = encode_command(cmd.Beat(point=row.point.id))
        (taken,) = await self.instance.driver.send([Enqueue(execution_id=row.execution_id, kind=kind, body=body)])
        if isinstance(taken, Refused):
            raise _too_late()

    async def _waiting_for(self, token: str | None, point: str | None) -> PointRow:
        """Return where somebody may report, if anybody still waits there."""
        store = self.instance.store
        if (token is None) == (point is None):
            raise TypeError("Give a token, or the point.")
        if point is None:
            wait = await store.token(hash_of(token)) if isinstance(token, str) else None
            if wait is None:
                raise CallbackRefused("Nobody knows this token.", code="unknown_token")
            point = wait.point
        row = await store.point(point) if is_point_id(point) else None
        if row is not None and row.point.kind != "callback":
            row = None
        if row is None and token is None:
            raise CallbackRefused("There is no such callback.", code="unknown_point")
        if row is None or row.status != "open":
            raise _too_late()
        return row

    async def _reply(self, row: PointRow, report: cmd.Report) -> None:
        kind, body = encode_command(report)
        # There is one reply to a point: whoever comes second is told so, whatever token they have.
        command = Enqueue(execution_id=row.execution_id, kind=kind, body=body, source=f"callback:{report.point}")
        (taken,) = await self.instance.driver.send([command])
        if isinstance(taken, Refused) or taken.repeated:
            raise _too_late()
        # From here on nothing is decided about the point without the reply; but it may have been over before.
        found = await self.instance.store.point(report.point)
        if found is None or found.status in ("expired", "cancelled"):
            raise _too_late()


def _too_late() -> CallbackRefused:
    return CallbackRefused("Nobody waits for this reply any more.", code="token_used")


def _told(message: str, token: str | None) -> str:
    """Return what somebody says as it may stand in the log."""
    text = str(message)
    if token is not None:  # before it is cut: a token that is cut in two would not be found
        text = str(without_token(text, token))
    return text[:_LONGEST_MESSAGE].encode(errors="backslashreplace").decode()[:_LONGEST_MESSAGE]


def _check_texts(**texts: object) -> None:
    for what, text in texts.items():
        fault = fault_in(what, text)
        if fault is not None:
            raise InvalidInput(fault, ((what, fault),))
