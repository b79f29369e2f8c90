"""Hints between instances by LISTEN and NOTIFY.

Hints are gathered for a moment and sent after their commit, in a transaction of their own: a NOTIFY inside a commit
makes all commits wait for each other. A listener needs a connection to the server itself; behind a pooler there is
none, and instances find everything by polling.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, get_args, get_type_hints

import msgspec

from layover.ports.errors import StoreError
from layover.ports.hints import Hint
from layover.stores.postgres.connections import connect
from layover.stores.postgres.errors import OF_DRIVER

if TYPE_CHECKING:
    from collections.abc import Callable

    import asyncpg

    from layover.stores.postgres.database import PostgresSchema

_GATHER = 0.005  # seconds
_MOST_BYTES = 7_900  # what a notification can hold, less a little
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_BETWEEN_LOOKS = 15.0  # seconds of silence after which a connection is tested

_KINDS = get_args(get_type_hints(Hint)["kind"])

_log = logging.getLogger("layover.postgres")


class _Word(msgspec.Struct, array_like=True):
    by: str
    hints: list[tuple[str, str]]


class NotifiedHints:
    """Sends hints to other instances, and listens to theirs while it is open."""

    def __init__(self, db: PostgresSchema, instance: str, *, is_alone: bool) -> None:
        """Whoever begins while others run (not `is_alone`) tells them of changes until it knows whether one follows."""
        self._db = db
        self._instance = instance
        self._channel = f"layover_{db.address.schema}"
        self._hear: Callable[[Hint], None] | None = None
        self._is_alone = is_alone
        self._pending: dict[tuple[str, str], None] = {}
        self._telling: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None

    def tell(self, hint: Hint) -> None:
        """Send a hint soon."""
        self._pending[hint.kind, hint.execution_id] = None
        if self._telling is None or self._telling.done():
            self._telling = asyncio.get_running_loop().create_task(self._tell())

    def listen(self, hear: Callable[[Hint], None]) -> None:
        """Call a function with each hint of another instance."""
        self._hear = hear
        if not self._is_alone:
            hear(Hint(kind="follow"))
        if self._listening is None and not self._db.address.pooled:
            self._listening = asyncio.get_running_loop().create_task(self._listen())

    async def close(self) -> None:
        """Send the remaining hints and stop listening."""
        try:
            if self._telling is not None:
                await asyncio.wait([self._telling])
        finally:  # also if the caller does not wait for that
            listening, self._listening = self._listening, None
            if listening is not None:
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)

    async def _tell(self) -> None:
        while self._pending:
            await asyncio.sleep(_GATHER)
            hints, self._pending = list(self._pending), {}
            for some in _fitting(hints):
                word = msgspec.json.encode(_Word(self._instance, some)).decode()
                try:
                    await self._db.fetch("notify", self._channel, word)
                except StoreError as error:  # polling finds it
                    _log.debug("hints_not_told count=%d error=%s", len(some), error.message)

    async def _listen(self) -> None:
        """Keep a connection that listens; after each loss, hints may have been missed."""
        pause = _FIRST_PAUSE
        while True:
            try:
                connection = await connect(self._db.address, "layover hints")
                try:
                    await self._listen_on(connection)
                    pause = _FIRST_PAUSE
                finally:
                    with suppress(*OF_DRIVER):
                        await connection.close(timeout=1)
            except OF_DRIVER as error:
                _log.info("hints_silent error=%s", error)
            except Exception:  # noqa: BLE001 - an instance that stops listening would get no more hints
                _log.exception("hints_silent")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _listen_on(self, connection: asyncpg.Connection) -> None:
        """Listen until the connection is lost; a silent connection is tested now and then."""
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        await connection.add_listener(self._channel, self._on_notification)
        self._pass_on(Hint(kind="due"))
        self._pass_on(Hint(kind="trigger"))
        while not lost.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(_BETWEEN_LOOKS):
                    await lost.wait()
                break
            try:
                await connection.execute("SELECT 1")
            except OF_DRIVER:
                break  # it was connected for a while, so the next attempt need not wait long

    def _on_notification(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        try:
            word = msgspec.json.decode(str(payload), type=_Word)
        except msgspec.MsgspecError:
            return  # any client of the database can send anything here
        if word.by == self._instance:
            return
        for kind, execution_id in word.hints:
            if kind in _KINDS:
                self._pass_on(Hint(kind=kind, execution_id=execution_id))  # type: ignore[arg-type]  # as just seen

    def _pass_on(self, hint: Hint) -> None:
        if self._hear is not None:
            self._hear(hint)


def _fitting(hints: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Return hints in bunches that fit into a notification: each takes less than 60 bytes."""
    most = _MOST_BYTES // 60
    return [hints[start : start + most] for start in range(0, len(hints), most)]
