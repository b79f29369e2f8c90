"""The records of triggers between the runtime and a store: rows, inputs, logs, and what changes them."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from layover.ports.access import WorkflowStatus
from layover.ports.records import AuditRow, Message, StoreRecord

TriggerState: TypeAlias = Literal["initialized", "active", "paused", "stopped", "error"]
InputState: TypeAlias = Literal["pending", "started", "delivered", "skipped", "rejected", "discarded"]

TRIGGER_STATES: tuple[TriggerState, ...] = get_args(TriggerState)
REMOVED = "removed"  # the reason of a trigger that the newest version of its workflow has no more


class TriggerRow(StoreRecord, frozen=True, kw_only=True):
    """A trigger. Any instance serves it when it is due; `seq` counts the events of its own log."""

    id: str
    workflow: str
    name: str
    type: str
    config: bytes  # as the definition has it, in JSON
    timing: str = ""  # what its occurrences follow from: if that changes, it counts from now
    topic: str = ""  # the name of the signal that fires it
    state: TriggerState = "active"
    reason: str = ""
    seq: int = 0
    epoch: int = 0
    owner: str | None = None
    next_at: int | None = None
    cursor: bytes = b""
    failures: int = 0
    managed: bool = True  # by the definition of its workflow; else it was made by itself


class InputRow(StoreRecord, frozen=True, kw_only=True):
    """Something that starts one execution; its data are in the event `seq` of its trigger."""

    trigger_id: str
    input_id: str
    state: InputState = "pending"
    at: int | None = None  # the nominal instant of an occurrence
    received_at: int
    due_at: int | None = None  # from when on anybody may start it; None while its trigger is paused
    forget_at: int  # until then the same id is a duplicate
    attempts: int = 0
    reason: str = ""
    execution_id: str = ""
    seq: int = 0


class TriggerEventRow(StoreRecord, frozen=True, kw_only=True):
    """One event of a trigger's own log; `body` is a JSON object."""

    seq: int
    at: int
    kind: str
    body: bytes


class NewEvent(StoreRecord, frozen=True, kw_only=True):
    """An event to be written; with an input, it holds the data of that."""

    kind: str
    body: bytes
    input: InputRow | None = None


class PollLease(StoreRecord, frozen=True, kw_only=True):
    """The lease of a poll, as its holder has read it: what is written under it names the epoch and the cursor."""

    epoch: int
    cursor: bytes


class RenewedPoll(StoreRecord, frozen=True, kw_only=True):
    """The lease of a poll by its holder and epoch, and until when it lasts now."""

    trigger_id: str
    owner: str
    epoch: int
    until: int


class TriggerMove(StoreRecord, frozen=True, kw_only=True):
    """What one transaction changes of a trigger. It passes only if `seq` is as its writer has read it.

    Inputs, cursor, the next moment and events are written together or not at all. `held` inputs stay pending until
    they are let go of; None leaves them as they are. A move with a `lease` also passes only if epoch and cursor are
    those. An `owner` leases the trigger until `next_at`, under a new epoch; a move without one ends any lease.
    """

    trigger_id: str
    expected_seq: int
    at: int
    state: TriggerState
    reason: str = ""
    next_at: int | None = None
    cursor: bytes = b""
    failures: int = 0
    owner: str | None = None
    lease: PollLease | None = None
    events: tuple[NewEvent, ...] = ()
    held: bool | None = None
    messages: tuple[Message, ...] = ()  # for the outbox
    audit: AuditRow | None = None


class Reception(StoreRecord, frozen=True, kw_only=True):
    """An input that arrives by itself: it is kept whatever else happens to its trigger meanwhile."""

    input: InputRow
    event: NewEvent
    most_pending: int
    audit: AuditRow | None = None


class Received(StoreRecord, frozen=True, kw_only=True):
    """What became of it: kept, known before, or (without an input) refused because too many are pending."""

    input: InputRow | None
    repeated: bool = False


class InputChange(StoreRecord, frozen=True, kw_only=True):
    """A change of an input; it passes only if the input is in one of the states `of`."""

    trigger_id: str
    input_id: str
    of: tuple[InputState, ...]
    state: InputState
    due_at: int | None = None
    attempts: int = 0
    reason: str = ""
    execution_id: str = ""
    forget_at: int = 0  # at the earliest
    audit: AuditRow | None = None


class DueTriggers(StoreRecord, frozen=True, kw_only=True):
    """Triggers, inputs and workflows for which something is due, and the moment at which the next one will be."""

    triggers: tuple[TriggerRow, ...] = ()
    inputs: tuple[InputRow, ...] = ()
    workflows: tuple[WorkflowStatus, ...] = ()
    next_due: int | None = None


class Overlapping(StoreRecord, frozen=True, kw_only=True):
    """What a trigger has started and is not closed, newest first, and how many of its inputs are pending."""

    pending: int = 0
    open: tuple[str, ...] = ()


class NewTrigger(StoreRecord, frozen=True, kw_only=True):
    """A trigger as a new version of its workflow declares it; `next_at` and `cursor` are for one that begins now."""

    id: str
    name: str
    type: str
    config: bytes
    timing: str = ""
    topic: str = ""
    state: TriggerState = "active"
    next_at: int | None = None
    cursor: bytes = b""
    keeps_cursor: bool = False  # that of the trigger before it, whatever has changed, and though it was removed


class TriggerSave(StoreRecord, frozen=True, kw_only=True):
    """A trigger that was made by itself, to be created, replaced, or (without `new`) deleted."""

    workflow: str
    trigger_id: str
    create: bool
    new: NewTrigger | None = None
    at: int
    audit: AuditRow | None = None


class TriggerSaved(StoreRecord, frozen=True, kw_only=True):
    """What became of it: saved, or why not. The name may be taken, or the trigger belong to a definition."""

    verdict: Literal["saved", "taken", "managed", "unknown"]
    row: TriggerRow | None = None


class TriggerToken(StoreRecord, frozen=True, kw_only=True):
    """The hash of the token in the address of a webhook, valid `until` a moment, which still belongs to it."""

    hash: str
    trigger_id: str
    made_at: int
    until: int | None = None


class NewToken(StoreRecord, frozen=True, kw_only=True):
    """A token to be stored. It replaces others, which end at a moment; else it is only for a trigger without one."""

    token: TriggerToken
    others_until: int | None = None
    audit: AuditRow | None = None


class InputFilter(StoreRecord, frozen=True, kw_only=True):
    """The inputs of a trigger to list, newest first; `after` is the last one seen: its moment and id."""

    trigger_id: str
    state: str | None = None
    after: tuple[int, str] | None = None
    limit: int = 100
