"""Moving a whole database into another one: the records that cross for that, and the methods of a store.

An execution crosses as a whole, with everything that belongs to it, byte for byte. Records shared by executions cross
beside them. Locks, instances and replies stay behind: they belong to the users of a database. So do sign-in links,
which could be used twice.
"""

from __future__ import annotations

from layover.ports.access import Key, LinkRow, SessionRow, UserSettingsRow, ViewRow, WorkflowStatus
from layover.ports.batch_records import BatchItemRow, BatchRow
from layover.ports.delivery_records import DeliveryRow, DestinationRow, PersonRow
from layover.ports.limit_records import AdmissionRow
from layover.ports.records import (
    AuditRow,
    DefinitionText,
    Entry,
    Message,
    PointRow,
    QueuedCommand,
    Signal,
    StoreRecord,
    Token,
    Version,
)
from layover.ports.seal_records import AuditDocument, Seal, SealKey
from layover.ports.trigger_records import InputRow, TriggerEventRow, TriggerRow, TriggerToken
from layover.ports.view_records import ExecutionRow, LogChunk


class Size(StoreRecord, frozen=True, kw_only=True):
    """The approximate size of an execution in bytes."""

    execution_id: str
    size: int


class CopiedSnapshot(StoreRecord, frozen=True, kw_only=True):
    """A state that replaces all events up to `seq`."""

    seq: int
    body: bytes


class SignalKey(StoreRecord, frozen=True, kw_only=True):
    """The name and key of a signal that a point waits for."""

    name: str
    key: str
    point: str


class StoredExecution(StoreRecord, frozen=True, kw_only=True):
    """Everything that is stored of one execution; each part in the order in which it was written."""

    row: ExecutionRow
    entries: tuple[Entry, ...]
    snapshot: CopiedSnapshot | None = None
    points: tuple[PointRow, ...] = ()
    commands: tuple[QueuedCommand, ...] = ()
    messages: tuple[Message, ...] = ()
    tokens: tuple[Token, ...] = ()
    waits: tuple[SignalKey, ...] = ()
    links: tuple[LinkRow, ...] = ()
    place: AdmissionRow | None = None
    logs: tuple[LogChunk, ...] = ()  # of its nodes; their progress stays behind, it is of calls that run now
    input: bytes | None = None  # the indexed input: the same document in every store, but not the same bytes

    @property
    def id(self) -> str:
        """The id of the execution."""
        return self.row.head.execution_id


class KeptSignal(StoreRecord, frozen=True, kw_only=True):
    """A signal, and whether it was dispatched to all its waiters."""

    signal: Signal
    dispatched: bool


class UsedRate(StoreRecord, frozen=True, kw_only=True):
    """The moment until which a rate is used up, in microseconds."""

    name: str
    used_until: int


class CopiedEvent(StoreRecord, frozen=True, kw_only=True):
    """An event of a trigger's own log."""

    trigger_id: str
    event: TriggerEventRow


class CopiedItem(StoreRecord, frozen=True, kw_only=True):
    """An item of a batch."""

    batch_id: str
    item: BatchItemRow


class CopiedBatch(StoreRecord, frozen=True, kw_only=True):
    """Records that are written together."""

    versions: tuple[Version, ...] = ()
    definition_texts: tuple[DefinitionText, ...] = ()
    executions: tuple[StoredExecution, ...] = ()
    signals: tuple[KeptSignal, ...] = ()
    rates: tuple[UsedRate, ...] = ()
    keys: tuple[Key, ...] = ()
    sessions: tuple[SessionRow, ...] = ()
    workflow_statuses: tuple[WorkflowStatus, ...] = ()
    audit: tuple[AuditRow, ...] = ()
    seals: tuple[Seal, ...] = ()
    seal_keys: tuple[SealKey, ...] = ()
    audit_documents: tuple[AuditDocument, ...] = ()
    triggers: tuple[TriggerRow, ...] = ()
    trigger_inputs: tuple[InputRow, ...] = ()
    trigger_events: tuple[CopiedEvent, ...] = ()
    trigger_tokens: tuple[TriggerToken, ...] = ()
    destinations: tuple[DestinationRow, ...] = ()
    deliveries: tuple[DeliveryRow, ...] = ()
    people: tuple[PersonRow, ...] = ()
    views: tuple[ViewRow, ...] = ()
    user_settings: tuple[UserSettingsRow, ...] = ()
    batches: tuple[BatchRow, ...] = ()
    batch_items: tuple[CopiedItem, ...] = ()
    other_messages: tuple[Message, ...] = ()  # of triggers, destinations and deliveries
