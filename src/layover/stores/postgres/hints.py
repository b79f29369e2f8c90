"""Word between instances by LISTEN and NOTIFY.

What there is to tell is gathered for a moment and goes out after its commit, by itself: inside a commit it would make
all commits wait for each other. A listener needs a connection to the server itself; behind a pooler there is none, and
everything is found by looking.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from layover.ports.errors import StoreError
from layover.ports.hints import Hint
from layover.stores.postgres.connections import connect
from layover.stores.postgres.errors import OF_DRIVER

if TYPE_CHECKING:
    from collections.abc import Callable

    import asyncpg

    from layover.stores.postgres.database import Database

_GATHER = 0.005  # seconds
_MOST_BYTES = 7_900  # what a notification can carry, less a little
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_BETWEEN_LOOKS = 15.0  # seconds after which a connection that nothing came through is tried

_log = logging.getLogger("layover.postgres")


class _Word(msgspec.Struct, array_like=True):
    by: str
    hints: list[tuple[str, str]]


class NotifiedHints:
    """Tells the others, and listens to them for as long as it is open."""

    def __init__(self, db: Database, instance: str) -> None:
        self._db = db
        self._instance = instance
        self._channel = f"layover_{db.address.schema}"
        self._hear: Callable[[Hint], None] | None = None
        self._pending: dict[tuple[str, str], None] = {}
        self._telling: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None

    def tell(self, hint: Hint) -> None:
        """Let the others know soon."""
        self._pending[hint.kind, hint.execution_id] = None
        if self._telling is None or self._telling.done():
            self._telling = asyncio.get_running_loop().create_task(self._tell())

    def listen(self, hear: Callable[[Hint], None]) -> None:
        """Have somebody hear what the others tell."""
        self._hear = hear
        if self._listening is None and not self._db.address.pooled:
            self._listening = asyncio.get_running_loop().create_task(self._listen())

    async def close(self) -> None:
        """Say what there is to say, and listen no more."""
        try:
            if self._telling is not None:
                await asyncio.wait([self._telling])
        finally:  # also if the one who closes does not wait for that
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
                except StoreError as error:  # it is found by looking
                    _log.debug("hints_not_told count=%d error=%s", len(some), error.message)

    async def _listen(self) -> None:
        """Keep a connection that listens; whenever it was lost something may have been missed."""
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
            except Exception:  # noqa: BLE001 - whoever no longer listens is told of nothing until the process ends
                _log.exception("hints_silent")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _listen_on(self, connection: asyncpg.Connection) -> None:
        """Listen until the connection is lost; now and then it is asked whether it still is one."""
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        await connection.add_listener(self._channel, self._heard)
        self._pass_on(Hint(kind="due"))
        while not lost.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(_BETWEEN_LOOKS):
                    await lost.wait()
                break
            try:
                await connection.execute("SELECT 1")
            except OF_DRIVER:
                break  # it has been one for a while, so the next try need not wait for long

    def _heard(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        try:
            word = msgspec.json.decode(str(payload), type=_Word)
        except msgspec.MsgspecError:
            return  # anybody who can reach the database can say anything here
        if word.by == self._instance:
            return
        for kind, execution_id in word.hints:
            if kind in ("due", "command", "rest"):
                self._pass_on(Hint(kind=kind, execution_id=execution_id))  # type: ignore[arg-type]  # as just seen

    def _pass_on(self, hint: Hint) -> None:
        if self._hear is not None:
            self._hear(hint)


def _fitting(hints: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Return hints in bunches that a notification can carry: each takes less than 60 bytes."""
    most = _MOST_BYTES // 60
    return [hints[start : start + most] for start in range(0, len(hints), most)]
