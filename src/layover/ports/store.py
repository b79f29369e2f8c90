"""The seam to a store. The core decides and the store only appends, so there is little to ask of it.

A store is a set of families, each a small protocol in `ports/families/`: `store.claims.renew(...)`. Every call is all
or nothing, and what it has answered is durable. Time comes in as an argument: a store never asks a clock but in `now`,
which is the clock that all instances go by. Wherever a call takes many, it answers in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

if TYPE_CHECKING:
    from layover.ports.families.answers import AnswerStore
    from layover.ports.families.api_keys import ApiKeyStore
    from layover.ports.families.appends import AppendStore
    from layover.ports.families.audit import AuditStore
    from layover.ports.families.batches import BatchStore
    from layover.ports.families.claims import ClaimStore
    from layover.ports.families.commands import CommandStore
    from layover.ports.families.database_copy import DatabaseCopyStore
    from layover.ports.families.definitions import DefinitionStore
    from layover.ports.families.deliveries import DeliveryStore
    from layover.ports.families.idempotency import IdempotencyStore
    from layover.ports.families.inspection import InspectionStore
    from layover.ports.families.instances import InstanceStore
    from layover.ports.families.limits import LimitStore
    from layover.ports.families.links import LinkStore
    from layover.ports.families.locks import LockStore
    from layover.ports.families.monitoring import MonitoringStore
    from layover.ports.families.node_reports import NodeReportStore
    from layover.ports.families.outbox import OutboxStore
    from layover.ports.families.people import PeopleStore
    from layover.ports.families.queries import QueryStore
    from layover.ports.families.retention import RetentionStore
    from layover.ports.families.seals import SealStore
    from layover.ports.families.search_terms import SearchTermStore
    from layover.ports.families.sessions import SessionStore
    from layover.ports.families.signals import SignalStore
    from layover.ports.families.triggers import TriggerStore
    from layover.ports.families.user_settings import UserSettingsStore
    from layover.ports.families.views import ViewStore
    from layover.ports.families.workflow_status import WorkflowStatusStore


class Families(Protocol):
    """The families of a store."""

    # Driving executions

    @property
    def appends(self) -> AppendStore:
        """The only way an execution moves."""

    @property
    def claims(self) -> ClaimStore:
        """Which instance drives an execution."""

    @property
    def commands(self) -> CommandStore:
        """Commands to executions."""

    @property
    def answers(self) -> AnswerStore:
        """Answers to pause points."""

    @property
    def outbox(self) -> OutboxStore:
        """Messages between executions."""

    @property
    def signals(self) -> SignalStore:
        """What arrives from outside by name and key."""

    @property
    def limits(self) -> LimitStore:
        """Which executions may start when only so many may."""

    @property
    def triggers(self) -> TriggerStore:
        """What starts executions by itself."""

    @property
    def deliveries(self) -> DeliveryStore:
        """What is sent to people and systems."""

    @property
    def people(self) -> PeopleStore:
        """Who can be reached, and where."""

    @property
    def batches(self) -> BatchStore:
        """One act on many items."""

    @property
    def links(self) -> LinkStore:
        """Links by which people reach a pause point."""

    # Reading

    @property
    def definitions(self) -> DefinitionStore:
        """Workflows and their versions."""

    @property
    def queries(self) -> QueryStore:
        """What is read of executions and pause points."""

    @property
    def search_terms(self) -> SearchTermStore:
        """By which values executions are found."""

    @property
    def node_reports(self) -> NodeReportStore:
        """Progress and log lines of nodes."""

    @property
    def monitoring(self) -> MonitoringStore:
        """What operators ask about all executions together."""

    # Instances and upkeep

    @property
    def instances(self) -> InstanceStore:
        """The engines that have the database open."""

    @property
    def locks(self) -> LockStore:
        """What only one instance does at a time."""

    @property
    def retention(self) -> RetentionStore:
        """Deleting executions that are not needed any more."""

    @property
    def database_copy(self) -> DatabaseCopyStore:
        """Copying a whole database into another one."""

    # Access from outside

    @property
    def workflow_status(self) -> WorkflowStatusStore:
        """Which workflows may be started."""

    @property
    def api_keys(self) -> ApiKeyStore:
        """Keys of the API."""

    @property
    def sessions(self) -> SessionStore:
        """Browsers that have signed in."""

    @property
    def audit(self) -> AuditStore:
        """Who did what."""

    @property
    def seals(self) -> SealStore:
        """The proof that entries of the audit are what was written."""

    @property
    def views(self) -> ViewStore:
        """Filters of lists that users keep."""

    @property
    def user_settings(self) -> UserSettingsStore:
        """What users have set for themselves."""

    @property
    def idempotency(self) -> IdempotencyStore:
        """Replies to requests that may be repeated."""


class Store(Families, Protocol):
    """All families, with a beginning, an end and a clock."""

    async def open(self, instance: str) -> None:
        """Make ready, for this instance, the only one of its name; what it drove before it was restarted is due."""

    async def close(self) -> None:
        """Let go of everything; what was answered stays durable."""

    async def now(self) -> int:
        """Return the time of the clock that all instances go by, as it was at some moment since this was asked."""

    @property
    def clock_error(self) -> int:
        """By how many milliseconds that time may be wrong, in either direction."""

    async def check_shape(self) -> None:
        """Raise an error if the tables are not, or no longer, those that this release needs."""


@runtime_checkable
class Inspectable(Store, Protocol):
    """A store that can also be read without being used."""

    async def open_to_read(self) -> None:
        """Make ready to read: nothing is created, migrated or changed, and no instance has to wait."""

    @property
    def inspection(self) -> InspectionStore:
        """What is wrong with the database."""


def _names_of(families: type) -> tuple[str, ...]:
    return tuple(name for name, member in vars(families).items() if isinstance(member, property))


FAMILIES: Final = (*_names_of(Families), *_names_of(Inspectable))
