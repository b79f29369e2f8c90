"""The store on a schema of PostgreSQL: it opens and closes what its families share, and tells the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.errors import StoreError
from layover.stores.postgres import migrations, weekly_partitions
from layover.stores.postgres.address import read_address
from layover.stores.postgres.answers import PostgresAnswers
from layover.stores.postgres.api_keys import PostgresApiKeys
from layover.stores.postgres.appends import PostgresAppends
from layover.stores.postgres.audit import PostgresAudit
from layover.stores.postgres.batches import PostgresBatches
from layover.stores.postgres.claims import PostgresClaims
from layover.stores.postgres.commands import PostgresCommands
from layover.stores.postgres.database import PostgresSchema
from layover.stores.postgres.database_copy import PostgresDatabaseCopy
from layover.stores.postgres.definitions import PostgresDefinitions
from layover.stores.postgres.deliveries import PostgresDeliveries
from layover.stores.postgres.heartbeats import Heartbeats
from layover.stores.postgres.hints import NotifiedHints
from layover.stores.postgres.idempotency import PostgresIdempotency
from layover.stores.postgres.inspection import PostgresInspection
from layover.stores.postgres.instances import PostgresInstances
from layover.stores.postgres.limits import PostgresLimits
from layover.stores.postgres.links import PostgresLinks
from layover.stores.postgres.liveness import LocalInstances
from layover.stores.postgres.locks import PostgresLocks
from layover.stores.postgres.monitoring import PostgresMonitoring
from layover.stores.postgres.node_reports import PostgresNodeReports
from layover.stores.postgres.outbox import PostgresOutbox
from layover.stores.postgres.people import PostgresPeople
from layover.stores.postgres.queries import PostgresQueries
from layover.stores.postgres.retention import PostgresRetention
from layover.stores.postgres.seals import PostgresSeals
from layover.stores.postgres.search_terms import PostgresSearchTerms
from layover.stores.postgres.session import PostgresSession
from layover.stores.postgres.sessions import PostgresSessions
from layover.stores.postgres.signals import PostgresSignals
from layover.stores.postgres.triggers import PostgresTriggers
from layover.stores.postgres.user_settings import PostgresUserSettings
from layover.stores.postgres.views import PostgresViews
from layover.stores.postgres.workflow_status import PostgresWorkflowStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.ports.hints import Hint
    from layover.ports.read_times import OnRead


class PostgresStore:
    """One schema of one database."""

    def __init__(self, address: str, *, clock: Callable[[], int] | None = None) -> None:
        self.address = read_address(address)
        session = self._session = PostgresSession(self.address, clock)
        self.appends = PostgresAppends(session)
        self.claims = PostgresClaims(session)
        self.commands = PostgresCommands(session)
        self.answers = PostgresAnswers(session)
        self.outbox = PostgresOutbox(session)
        self.signals = PostgresSignals(session)
        self.limits = PostgresLimits(session)
        self.triggers = PostgresTriggers(session)
        self.deliveries = PostgresDeliveries(session)
        self.people = PostgresPeople(session)
        self.views = PostgresViews(session)
        self.user_settings = PostgresUserSettings(session)
        self.batches = PostgresBatches(session)
        self.links = PostgresLinks(session)
        self.definitions = PostgresDefinitions(session)
        self.node_reports = PostgresNodeReports(session)
        self.queries = PostgresQueries(session)
        self.search_terms = PostgresSearchTerms(session)
        self.monitoring = PostgresMonitoring(session)
        self.instances = PostgresInstances(session)
        self.locks = PostgresLocks(session)
        self.retention = PostgresRetention(session)
        self.database_copy = PostgresDatabaseCopy(session)
        self.inspection = PostgresInspection(session)
        self.workflow_status = PostgresWorkflowStatus(session)
        self.api_keys = PostgresApiKeys(session)
        self.sessions = PostgresSessions(session)
        self.audit = PostgresAudit(session)
        self.seals = PostgresSeals(session)
        self.idempotency = PostgresIdempotency(session)
        self._heartbeats = Heartbeats(session)
        self._hints: NotifiedHints | None = None

    async def open(self, instance: str) -> None:
        """Migrate the tables and register this instance."""
        session, heartbeats = self._session, self._heartbeats
        if session.opened is not None:
            raise StoreError("The store is open already.", code="open")
        db = PostgresSchema(self.address)
        try:
            await heartbeats.set_clock(db)
            await migrations.migrate(self.address, session.now())
            await heartbeats.join(db)
            now = session.now()
            await heartbeats.register(db, instance, now)
            # No other instance has this name now, so its leases are from before it was restarted.
            await db.fetch("expire_leases", [instance], now)
            await weekly_partitions.prepare(db, now)
        except BaseException:
            await db.close()
            raise
        session.opened = db
        self._hints = NotifiedHints(db, instance, is_alone=not await self.instances.list_others())
        session.local_instances = LocalInstances(db, instance)
        await session.local_instances.enter()
        heartbeats.start(db)

    async def open_to_read(self) -> None:
        """Open up-to-date tables to read from them. They are not changed, and no instance has to wait."""
        if self._session.opened is not None:
            raise StoreError("The store is open already.", code="open")
        db = PostgresSchema(self.address)
        try:
            await self._heartbeats.set_clock(db)
            await migrations.check(db)
        except BaseException:
            await db.close()
            raise
        self._session.opened = db

    async def close(self) -> None:
        """Close all connections; every result that was returned is durable."""
        db, self._session.opened = self._session.opened, None
        self.answers.start_anew()
        self.deliveries.start_anew()
        self.outbox.start_anew()
        self.queries.start_anew()
        if db is None:
            return
        try:
            await self._leave(db)
        finally:  # also if the caller does not wait for a silent server
            await db.close()

    async def _leave(self, db: PostgresSchema) -> None:
        """Unregister this instance."""
        hints, self._hints = self._hints, None
        local_instances, self._session.local_instances = self._session.local_instances, None
        try:
            if hints is not None:
                await hints.close()
        finally:
            if local_instances is not None:
                local_instances.leave()
            was_registered = await self._heartbeats.stop()
        if was_registered:
            await self._heartbeats.unregister(db)

    async def now(self) -> int:
        """Return the time of the server, which all instances share, without asking it."""
        return self._session.now()

    @property
    def clock_error(self) -> int:
        """By how much that time may be wrong: half the round trip of the quickest reply."""
        return self._session.clock_error

    async def check_shape(self) -> None:
        """Raise an error if the tables are not those of this release."""
        await migrations.check(self._session.db)

    def time_reads(self, on_read: OnRead) -> None:
        """Tell how long each query takes from now on."""
        self.queries.on_read = on_read

    def tell(self, hint: Hint) -> None:
        """Send a hint to other instances."""
        if self._hints is not None:
            self._hints.tell(hint)

    def listen(self, hear: Callable[[Hint], None]) -> None:
        """Call a function with each hint of another instance."""
        if self._hints is not None:
            self._hints.listen(hear)

    @property
    def statements(self) -> int:
        """How many statements, or transactions of several statements, were sent."""
        opened = self._session.opened
        return opened.statements if opened is not None else 0
