"""The store on a database file: it opens and closes what its families share, and tells the time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from layover.ports.errors import StoreError, StoreUnavailable
from layover.stores.sqlite.answers import SqliteAnswers
from layover.stores.sqlite.api_keys import SqliteApiKeys
from layover.stores.sqlite.appends import SqliteAppends
from layover.stores.sqlite.audit import SqliteAudit
from layover.stores.sqlite.batches import SqliteBatches
from layover.stores.sqlite.claims import SqliteClaims
from layover.stores.sqlite.commands import SqliteCommands
from layover.stores.sqlite.connection import BUSY_MS, connect, translated, write_ahead
from layover.stores.sqlite.database_copy import SqliteDatabaseCopy
from layover.stores.sqlite.definitions import SqliteDefinitions
from layover.stores.sqlite.deliveries import SqliteDeliveries
from layover.stores.sqlite.hints import WatchedHints
from layover.stores.sqlite.idempotency import SqliteIdempotency
from layover.stores.sqlite.inspection import SqliteInspection
from layover.stores.sqlite.instances import SqliteInstances
from layover.stores.sqlite.limits import SqliteLimits
from layover.stores.sqlite.links import SqliteLinks
from layover.stores.sqlite.locks import SqliteLocks
from layover.stores.sqlite.migrations import check, migrate
from layover.stores.sqlite.monitoring import SqliteMonitoring
from layover.stores.sqlite.node_reports import SqliteNodeReports
from layover.stores.sqlite.outbox import SqliteOutbox
from layover.stores.sqlite.people import SqlitePeople
from layover.stores.sqlite.queries import SqliteQueries
from layover.stores.sqlite.retention import SqliteRetention
from layover.stores.sqlite.seals import SqliteSeals
from layover.stores.sqlite.search_terms import SqliteSearchTerms
from layover.stores.sqlite.session import SqliteSession
from layover.stores.sqlite.sessions import SqliteSessions
from layover.stores.sqlite.signals import SqliteSignals
from layover.stores.sqlite.triggers import SqliteTriggers
from layover.stores.sqlite.user_settings import SqliteUserSettings
from layover.stores.sqlite.views import SqliteViews
from layover.stores.sqlite.workflow_status import SqliteWorkflowStatus
from layover.stores.steady_clock import SteadyClock

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from layover.ports.hints import Hint
    from layover.ports.read_times import OnRead

_BETWEEN_LOOKS = 0.5


class SqliteStore:
    """One database file."""

    def __init__(
        self,
        path: Path | str,
        *,
        busy_ms: int = BUSY_MS,
        between_looks: float = _BETWEEN_LOOKS,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self.path = Path(path)
        self._clock = SteadyClock() if clock is None else clock
        session = self._session = SqliteSession(self.path, busy_ms)
        self._hints = WatchedHints(session)
        self.instances = SqliteInstances(session, self._clock, between_looks)
        self.appends = SqliteAppends(session, self._clock)
        self.claims = SqliteClaims(session, self.instances, self._clock)
        self.commands = SqliteCommands(session)
        self.answers = SqliteAnswers(session, self._clock)
        self.outbox = SqliteOutbox(session)
        self.signals = SqliteSignals(session)
        self.limits = SqliteLimits(session)
        self.triggers = SqliteTriggers(session)
        self.deliveries = SqliteDeliveries(session)
        self.people = SqlitePeople(session)
        self.views = SqliteViews(session)
        self.user_settings = SqliteUserSettings(session)
        self.batches = SqliteBatches(session)
        self.links = SqliteLinks(session)
        self.definitions = SqliteDefinitions(session)
        self.node_reports = SqliteNodeReports(session)
        self.queries = SqliteQueries(session)
        self.search_terms = SqliteSearchTerms(session)
        self.monitoring = SqliteMonitoring(session)
        self.locks = SqliteLocks(session)
        self.retention = SqliteRetention(session)
        self.database_copy = SqliteDatabaseCopy(session)
        self.inspection = SqliteInspection(session)
        self.workflow_status = SqliteWorkflowStatus(session)
        self.api_keys = SqliteApiKeys(session)
        self.sessions = SqliteSessions(session)
        self.audit = SqliteAudit(session)
        self.seals = SqliteSeals(session)
        self.idempotency = SqliteIdempotency(session)

    async def open(self, instance: str) -> None:
        """Open the file, migrate it, and take the lock of this instance."""
        if self._session.is_open:
            raise StoreError("The store is open already.", code="open")
        self._session.open(await asyncio.to_thread(self._prepare))
        try:
            await self.instances.enter(instance)
        except BaseException:
            await self.close()
            raise

    async def open_to_read(self) -> None:
        """Open an up-to-date file to read from it. It is not changed, and no instance has to wait."""
        if self._session.is_open:
            raise StoreError("The store is open already.", code="open")
        if not self.path.is_file():
            raise StoreUnavailable(f"There is no database {self.path}.", code="missing")
        self._session.open_to_read()
        try:
            await self.check_shape()
        except BaseException:
            await self.close()
            raise

    def _prepare(self) -> apsw.Connection:
        busy_ms = self._session.busy_ms
        db = connect(self.path, busy_ms=busy_ms)
        try:
            with translated(self.path):
                migrate(db, self.path, self._clock())
            write_ahead(db, self.path, busy_ms)
        except BaseException:
            db.close()
            raise
        return db

    async def close(self) -> None:
        """Finish the writes that wait and close the file."""
        await self._hints.close()
        await self._session.close()
        self.instances.leave()

    async def now(self) -> int:
        """Return the time of the machine, which all instances on a file share."""
        return self._clock()

    @property
    def clock_error(self) -> int:
        """By how much that time may be wrong: not at all, since it is the clock itself."""
        return 0

    def tell(self, hint: Hint) -> None:
        """Tell nothing: other processes see that the file has changed. To follow is to look more closely."""
        if hint.kind == "follow":
            self._hints.follow()

    def listen(self, hear: Callable[[Hint], None]) -> None:
        """Call a function whenever the file has changed."""
        self._hints.listen(hear)

    async def check_shape(self) -> None:
        """Raise an error if the tables are not those of this release."""
        await self._session.read(lambda db: check(db, self.path))

    def time_reads(self, on_read: OnRead) -> None:
        """Tell how long each query takes from now on."""
        self.queries.on_read = on_read

    @property
    def transactions(self) -> int:
        """How many transactions were committed: many writes share one."""
        return self._session.transactions
