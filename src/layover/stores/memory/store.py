"""The store in memory: it opens and closes what its families share, and tells the time."""

from __future__ import annotations

from layover.ports.errors import StoreError, StoreUnavailable
from layover.stores.memory.answers import MemoryAnswers
from layover.stores.memory.api_keys import MemoryApiKeys
from layover.stores.memory.appends import MemoryAppends
from layover.stores.memory.audit import MemoryAudit
from layover.stores.memory.batches import MemoryBatches
from layover.stores.memory.claims import MemoryClaims, expire_leases
from layover.stores.memory.commands import MemoryCommands
from layover.stores.memory.database import MemoryDatabase
from layover.stores.memory.database_copy import MemoryDatabaseCopy
from layover.stores.memory.definitions import MemoryDefinitions
from layover.stores.memory.deliveries import MemoryDeliveries
from layover.stores.memory.idempotency import MemoryIdempotency
from layover.stores.memory.instances import MemoryInstances
from layover.stores.memory.limits import MemoryLimits
from layover.stores.memory.links import MemoryLinks
from layover.stores.memory.locks import MemoryLocks
from layover.stores.memory.monitoring import MemoryMonitoring
from layover.stores.memory.node_reports import MemoryNodeReports
from layover.stores.memory.outbox import MemoryOutbox
from layover.stores.memory.people import MemoryPeople
from layover.stores.memory.queries import MemoryQueries
from layover.stores.memory.retention import MemoryRetention
from layover.stores.memory.seals import MemorySeals
from layover.stores.memory.search_terms import MemorySearchTerms
from layover.stores.memory.session import MemorySession
from layover.stores.memory.sessions import MemorySessions
from layover.stores.memory.signals import MemorySignals
from layover.stores.memory.triggers import MemoryTriggers
from layover.stores.memory.user_settings import MemoryUserSettings
from layover.stores.memory.views import MemoryViews
from layover.stores.memory.workflow_status import MemoryWorkflowStatus


class MemoryStore:
    """The store of one instance; several may share a database."""

    def __init__(self, database: MemoryDatabase | None = None) -> None:
        self.database = database if database is not None else MemoryDatabase()
        session = self._session = MemorySession(self.database)
        self.appends = MemoryAppends(session)
        self.claims = MemoryClaims(session)
        self.commands = MemoryCommands(session)
        self.answers = MemoryAnswers(session)
        self.outbox = MemoryOutbox(session)
        self.signals = MemorySignals(session)
        self.limits = MemoryLimits(session)
        self.triggers = MemoryTriggers(session)
        self.deliveries = MemoryDeliveries(session)
        self.people = MemoryPeople(session)
        self.views = MemoryViews(session)
        self.user_settings = MemoryUserSettings(session)
        self.batches = MemoryBatches(session)
        self.links = MemoryLinks(session)
        self.definitions = MemoryDefinitions(session)
        self.node_reports = MemoryNodeReports(session)
        self.queries = MemoryQueries(session)
        self.search_terms = MemorySearchTerms(session)
        self.monitoring = MemoryMonitoring(session)
        self.instances = MemoryInstances(session)
        self.locks = MemoryLocks(session)
        self.retention = MemoryRetention(session)
        self.database_copy = MemoryDatabaseCopy(session)
        self.workflow_status = MemoryWorkflowStatus(session)
        self.api_keys = MemoryApiKeys(session)
        self.sessions = MemorySessions(session)
        self.audit = MemoryAudit(session)
        self.seals = MemorySeals(session)
        self.idempotency = MemoryIdempotency(session)

    async def open(self, instance: str) -> None:
        """Open the database for an instance. Executions that it drove before it was restarted are due at once."""
        if self._session.instance is not None:
            raise StoreError("The store is open already.", code="open")
        if instance in self.database.instances:
            raise StoreUnavailable(f"An instance {instance} is running already.", code="instance_taken")
        self.database.instances.add(instance)
        self._session.instance = instance
        expire_leases(self.database, instance, self.database.clock())

    async def close(self) -> None:
        """Close the store; the database stays."""
        self.database.instances.discard(self._session.instance or "")
        self._session.instance = None

    async def now(self) -> int:
        """Return the time of the clock that all instances share."""
        return self.database.clock()

    @property
    def clock_error(self) -> int:
        """By how much that time may be wrong: not at all, since it is the clock itself."""
        return 0

    async def check_shape(self) -> None:
        """Raise an error if the tables are not those of this release."""
        await self._session.turn()
