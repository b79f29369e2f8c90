"""Deliveries and destinations: what was sent to people and systems, and where it can be sent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from layover.core.moments import Moment
from layover.model.shared import Body, Reason, Resource, Uuid, WorkflowName

DeliveryState = Literal["pending", "sent", "dead", "moot", "discarded"]
DestinationState = Literal["active", "disabled"]
DestinationKind = Literal["mail", "webhook", "chat", "function"]
DestinationName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,62}$(?!\n)", examples=["ops-chat"])]


class DeliveryAttempt(Resource, frozen=True, kw_only=True, omit_defaults=True):
    """One attempt to send something."""

    at: Moment
    ms: int  # how long it took
    status: int | None = None  # of the reply, if there was one
    reply: str = ""  # its first kilobyte
    error: str = ""  # why it failed


class Delivery(Resource, frozen=True, kw_only=True):
    """Something that is sent to one addressee, at least once, always under this id."""

    id: Uuid
    destination: str
    kind: str  # of the occasion, such as `pause.opened`; `send` for what a `send` node sends
    state: DeliveryState
    reason: str = ""  # of the state, or why it is not sent yet
    execution_id: str | None = None
    workflow: str | None = None
    point_id: str | None = None
    user: str | None = None  # the addressee, if a person is
    created_at: Moment
    due_at: Moment | None = None  # when it is tried next
    settled_at: Moment | None = None
    attempts: tuple[DeliveryAttempt, ...] = ()  # the newest ones


class Destination(Resource, frozen=True, kw_only=True):
    """Where deliveries go: a mail server, a webhook, a chat, or a function of a program."""

    name: str
    kind: DestinationKind | None = None  # None: it belongs to the settings or the program of another instance
    state: DestinationState = "active"
    reason: str = ""  # of the state
    managed: bool = False  # it belongs to the settings or to a program, and changes with those
    definition: dict[str, Any] = {}  # with the names of secrets, never their values, and never the address of a chat
    failures: int = 0  # in a row
    open_until: Moment | None = None  # its breaker lets nothing pass until then


class Redelivered(Resource, frozen=True, kw_only=True):
    """How many deliveries are sent once more; `next` goes back in as `cursor`, if there are others."""

    count: int
    next: str | None = None


class _DestinationFields(Body, frozen=True, kw_only=True):
    kind: Literal["mail", "webhook", "chat"]
    address: Annotated[str, Meta(max_length=2_000)] | dict[str, str]  # or `{"secret": NAME}`
    secret: Any = None  # for signatures, or the password of a mail server: NAME, or `[NAME, {"name", "until"}]`
    user: Annotated[str, Meta(max_length=255)] = ""  # of a mail server
    from_: Annotated[str, Meta(max_length=255)] = msgspec.field(name="from", default="")
    headers: dict[str, Any] = {}
    rate: Annotated[str, Meta(max_length=50)] = ""  # such as `1/s` or `100/m`
    ordered: bool = True
    timeout: Annotated[str, Meta(max_length=50)] | None = None
    include: tuple[Literal["shown", "input", "output", "answer"], ...] = ()


class DestinationBody(_DestinationFields, frozen=True, kw_only=True):
    """A destination to be made or replaced."""

    name: DestinationName


class UpdateDestinationBody(_DestinationFields, frozen=True, kw_only=True):
    """What takes the place of a destination; a name, if there is one, is that of the path."""

    name: DestinationName | None = None


class DisableBody(Body, frozen=True, kw_only=True):
    """Why a destination is disabled."""

    reason: Reason | None = None


class SendTestBody(Body, frozen=True, kw_only=True):
    """Where a test goes: mail needs an address."""

    to: Annotated[str, Meta(min_length=1, max_length=255)] | None = None


class WhichDeliveries(Body, frozen=True, kw_only=True):
    """Which deliveries, the newest first: those of a state, a destination, an execution.

    Those that were sent are sent once more only if a destination or an execution is named.
    """

    state: Literal["dead", "sent", "moot", "discarded"] = "dead"
    destination: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    execution_id: Uuid | None = None
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100
    cursor: str | None = None


class RedeliverBody(Body, frozen=True, kw_only=True):
    """Which deliveries are sent once more; without `where`, the newest ones that are dead."""

    where: WhichDeliveries = WhichDeliveries()


class Notification(Resource, frozen=True, kw_only=True):
    """What a function that is a destination gets: the same at each attempt, but for `attempt`."""

    id: Uuid  # of the delivery: the same again is the same occasion
    kind: str
    at: Moment
    attempt: int
    workflow: WorkflowName | None = None
    execution_id: str | None = None
    point: dict[str, Any] | None = None  # id, title, kind, deadline
    people: tuple[str, ...] = ()  # the users who are meant
    subject: str = ""
    text: str = ""
    data: dict[str, Any] = {}  # what `include` adds, and what a `send` node gives
