"""Replies to callback nodes: a result, a failure or a heartbeat, by token or by pause point."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from layover.core.engine import commands as cmd
from layover.core.engine.answers import Refused
from layover.core.engine.command_codec import encode_command
from layover.core.engine.events import Error
from layover.core.payloads import plain
from layover.errors import CallbackRefused
from layover.nodes.callback_tokens import without_token
from layover.ports.records import Enqueue
from layover.redaction import redact
from layover.runtime.execution.callback_tokens import hash_of
from layover.runtime.execution.leg_tracing import sent_here
from layover.runtime.ids import is_point_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.ports.records import AuditRow, PointRow
    from layover.ports.store import Store
    from layover.runtime.dispatch.driver import Driver

    EntryOf: TypeAlias = Callable[[PointRow], AuditRow | None]

_LONGEST_MESSAGE = 2_000


class Callbacks:
    """Takes replies to callback nodes."""

    def __init__(self, store: Store, driver: Driver) -> None:
        self._store = store
        self._driver = driver

    async def reply(
        self, token: str | None = None, output: object = None, *, point: str | None = None, entry: EntryOf | None = None
    ) -> None:
        """Give the reply that a callback node waits for, with its audit entry.

        A trusted caller without the token names the `point` instead; so do the other two.
        """
        row = await self._waiting_for(token, point)
        kept = plain(output)
        if token is not None and token.encode() in msgspec.json.encode(kept):
            kept = without_token(kept, token)
        await self._reply(row, cmd.Report(point=row.point.id, output=kept), entry)

    async def fail(
        self,
        token: str | None = None,
        message: str = "",
        *,
        retryable: bool = True,
        point: str | None = None,
        entry: EntryOf | None = None,
    ) -> None:
        """Say that what a callback node waits for has failed."""
        row = await self._waiting_for(token, point)
        error = Error(code="callback_failed", message=_without_token(message, token), retryable=retryable)
        await self._reply(row, cmd.Report(point=row.point.id, error=error), entry)

    async def beat(self, token: str | None = None, *, point: str | None = None) -> None:
        """Say that what a callback node waits for is still being worked at."""
        row = await self._waiting_for(token, point)
        if row.point.beat_by is None:
            return  # no call waits for it
        kind, body = encode_command(cmd.Beat(point=row.point.id))
        (taken,) = await self._driver.send([Enqueue(execution_id=row.execution_id, kind=kind, body=body)])
        if isinstance(taken, Refused):
            raise _too_late()

    async def _waiting_for(self, token: str | None, point: str | None) -> PointRow:
        """Return the point that a report is for, if it is still open."""
        store = self._store
        if (token is None) == (point is None):
            raise TypeError("Give a token, or the point.")
        if point is None:
            wait = await store.queries.find_token(hash_of(token)) if isinstance(token, str) else None
            if wait is None:
                raise CallbackRefused("This callback token is unknown.", code="unknown_token")
            point = wait.point
        row = await store.queries.find_point(point) if is_point_id(point) else None
        if row is not None and row.point.kind != "callback":
            row = None
        if row is None and token is None:
            raise CallbackRefused("This callback is unknown.", code="unknown_point")
        if row is None or row.status != "open":
            raise _too_late()
        return row

    async def _reply(self, row: PointRow, report: cmd.Report, entry: EntryOf | None) -> None:
        kind, body = encode_command(sent_here(self._driver.tracer, report))
        # There is one reply to a point: the second one is refused, whatever its token.
        command = Enqueue(
            execution_id=row.execution_id,
            kind=kind,
            body=body,
            source=f"callback:{report.point}",
            audit=None if entry is None else entry(row),
        )
        (taken,) = await self._driver.send([command])
        if isinstance(taken, Refused) or taken.repeated:
            raise _too_late()
        # From here on nothing is decided about the point without the reply; but it may have been over before.
        found = await self._store.queries.find_point(report.point)
        if found is None or found.status in ("expired", "cancelled"):
            raise _too_late()


def _too_late() -> CallbackRefused:
    return CallbackRefused(
        "This callback is closed: it has a reply already, or its execution no longer waits.", code="token_used"
    )


def _without_token(message: str, token: str | None) -> str:
    """Return a message without the token, as it may be stored in the log."""
    text = str(message)
    if token is not None:  # before it is cut: a token that is cut in two would not be found
        text = str(without_token(text, token))
    return redact(text, _LONGEST_MESSAGE).encode(errors="backslashreplace").decode()[:_LONGEST_MESSAGE]
