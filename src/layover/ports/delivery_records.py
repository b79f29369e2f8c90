"""The records of deliveries between the runtime and a store: what is sent, where to, and to whom."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from layover.ports.records import AuditRow, Message, StoreRecord

DeliveryState: TypeAlias = Literal["pending", "sent", "dead", "moot", "discarded"]
DestinationState: TypeAlias = Literal["active", "disabled"]
Health: TypeAlias = Literal["good", "bad", "unknown"]

DELIVERY_STATES: tuple[DeliveryState, ...] = get_args(DeliveryState)

MUTED: Final = "muted"  # the reason of a delivery that its addressee does not want


class DeliveryRow(StoreRecord, frozen=True, kw_only=True):
    """Something to be sent to one addressee. Any instance sends it when it is due, at least once, under one id.

    Deliveries of one `lane` are sent in the order of their event numbers and ids: only the first that is pending can be
    claimed. One without a lane waits for none.
    """

    id: str
    execution_id: str | None = None  # None: it tells of a trigger, a destination or another delivery
    workflow: str = ""
    n: int = 0  # the number of the event
    lane: str = ""
    destination: str
    kind: str
    point: str = ""  # that it tells of, or that waits for its outcome
    user: str = ""  # the addressee, if a person is
    address: str = ""  # where mail goes
    body: bytes = b""  # what is sent, in JSON; empty once it is no longer kept
    state: DeliveryState = "pending"
    reason: str = ""
    created_at: int
    due_at: int
    epoch: int = 0
    attempts: int = 0  # since it was last made pending
    history: bytes = b"[]"  # the newest attempts, in JSON
    settled_at: int | None = None
    awaited: bool = False  # its point waits for its outcome


class DestinationRow(StoreRecord, frozen=True, kw_only=True):
    """What all instances know of a destination: its breaker, when it is free, and what it is if it was made by itself.

    Destinations of the settings, and functions, have a row once something was sent to them.
    """

    name: str
    config: bytes = b""  # in JSON; empty if it belongs to the settings or to a program
    state: DestinationState = "active"
    reason: str = ""
    failures: int = 0  # in a row
    failing_since: int | None = None
    open_until: int | None = None  # until then nothing is sent, and after that one delivery tries it
    opened: int = 0  # how often in a row
    free_at: int = 0  # when its rate allows the next one
    changed_at: int = 0


class DestinationSave(StoreRecord, frozen=True, kw_only=True):
    """A destination to be created, replaced, or (without `config`) deleted."""

    name: str
    create: bool
    config: bytes = b""
    at: int
    audit: AuditRow | None = None


class DestinationSaved(StoreRecord, frozen=True, kw_only=True):
    """What became of it: saved, or why not; the name may be taken, or not be known."""

    verdict: Literal["saved", "taken", "unknown"]
    row: DestinationRow | None = None


class DeliveryClaim(StoreRecord, frozen=True, kw_only=True):
    """A request for due deliveries to one destination.

    They are not claimed again before `due_again`, whatever happens to this instance. With an `interval`, in
    milliseconds, one goes in each; after a rest of the destination, as many as fit into a second go at once.
    """

    destination: str
    now: int
    due_again: int
    most: int
    interval: int = 0


class ClaimedDeliveries(StoreRecord, frozen=True, kw_only=True):
    """Claimed deliveries, each with a new epoch and one attempt more.

    `next_due` is when to ask again, if that is known: a breaker, a rate, or the next delivery. If it has passed, there
    are more than were asked for.
    """

    deliveries: tuple[DeliveryRow, ...] = ()
    next_due: int | None = None


class Settlement(StoreRecord, frozen=True, kw_only=True):
    """The outcome of one attempt. It passes only if the delivery is pending under this epoch.

    Everything is written in one transaction: the delivery, the breaker of its destination, and messages. `outcome` is
    written once no awaited delivery with the same execution and event number is pending; `dead_outcome` in its place if
    one of them is dead or discarded. After that none of them is awaited, so that it is written once. `on_disabled` is
    written if this disables the destination. A message that is in the outbox already is left as it is.
    """

    id: str
    epoch: int
    at: int
    state: DeliveryState
    due_at: int = 0  # of one that stays pending
    reason: str = ""
    attempt: bytes = b""  # a JSON object for the history
    health: Health = "unknown"  # what it says about the destination
    disable: str = ""  # why the destination is disabled at once
    gives_back: bool = False  # the attempt does not count: nothing was tried
    messages: tuple[Message, ...] = ()
    outcome: Message | None = None
    dead_outcome: Message | None = None
    on_disabled: Message | None = None


class Settled(StoreRecord, frozen=True, kw_only=True):
    """Whether it passed, and the destination afterwards."""

    passed: bool
    destination: DestinationRow | None = None


class DeliveryChange(StoreRecord, frozen=True, kw_only=True):
    """A change by an operator; it passes only if the delivery is in one of the states `of`.

    One that becomes pending begins anew: its attempts are counted from zero, and its history stays. It needs its body.
    If it is the last of those that a point waits for, `outcome` or `dead_outcome` is written as by a `Settlement`.
    """

    id: str
    of: tuple[DeliveryState, ...]
    state: DeliveryState
    at: int
    reason: str = ""
    audit: AuditRow | None = None
    outcome: Message | None = None
    dead_outcome: Message | None = None


class DeliveryFilter(StoreRecord, frozen=True, kw_only=True):
    """The deliveries to list, newest first; `after` is the last one seen: its moment and id.

    A `point` is sought among those of its execution: without an `execution_id`, all deliveries are looked through.
    """

    state: str | None = None
    destination: str | None = None
    execution_id: str | None = None
    point: str | None = None
    after: tuple[int, str] | None = None
    limit: int = 100


class DueDestinations(StoreRecord, frozen=True, kw_only=True):
    """The destinations to which something is due, and when something will be due next."""

    names: tuple[str, ...] = ()
    next_due: int | None = None


class DestinationCounts(StoreRecord, frozen=True, kw_only=True):
    """How much waits for a destination, and how much of it is given up; each count has a bound."""

    destination: str
    pending: int = 0
    dead: int = 0
    oldest: int | None = None  # when the oldest pending one was made


class PersonRow(StoreRecord, frozen=True, kw_only=True):
    """A person as the table of the directory has them."""

    user: str
    roles: tuple[str, ...] = ()
    body: bytes = b"{}"  # addresses, language, zone, absence: in JSON
    changed_at: int = 0
