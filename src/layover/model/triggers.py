"""Triggers: what starts executions by itself, its inputs and its own log."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from layover.core.moments import Moment
from layover.model.shared import Body, Length, Reason, Resource, Uuid, Value, WorkflowName

TriggerState = Literal["initialized", "active", "paused", "stopped", "error"]
InputState = Literal["pending", "started", "delivered", "skipped", "rejected", "discarded"]
InputId = Annotated[str, Meta(min_length=1, max_length=255)]


class Trigger(Resource, frozen=True, kw_only=True):
    """A trigger of a workflow. Its id follows from the names of both."""

    id: Uuid
    workflow: WorkflowName
    name: str
    type: str
    state: TriggerState
    reason: str = ""  # of the state
    next_at: Moment | None = None  # when it is due next
    failures: int = 0  # in a row
    cursor: str | None = None  # of a poll: what its source returned last
    definition: dict[str, Any] = {}  # as the newest version of its workflow has it
    managed: bool = True  # it belongs to the definition of its workflow, and changes with that
    address: str | None = None  # of a webhook with a token: only shown when the token is made


class TriggerInput(Resource, frozen=True, kw_only=True):
    """Something that starts one execution: an occurrence, or a signal."""

    trigger_id: Uuid
    input_id: str
    state: InputState
    received_at: Moment
    at: Moment | None = None  # the nominal instant of an occurrence
    reason: str = ""  # of the state
    execution_id: str | None = None
    attempts: int = 0


class TriggerEvent(Resource, frozen=True, kw_only=True):
    """One event of a trigger's own log."""

    seq: int
    at: Moment
    type: str
    data: dict[str, Any] = {}


class TriggerOccurrence(Resource, frozen=True, kw_only=True, omit_defaults=True):
    """A nominal instant of a schedule; `starts_at` is when it starts, where the jitter moves it."""

    at: Moment
    starts_at: Moment | None = None


class TriggerOccurrences(Resource, frozen=True, kw_only=True):
    """Instants of a schedule, in their order."""

    items: tuple[TriggerOccurrence, ...] = ()


class Fired(Resource, frozen=True, kw_only=True):
    """What became of an input that was given by hand. A dry run only says what would become of it.

    `passes` is whether the filter lets it pass, and `input` what the execution starts with.
    """

    input_id: str
    execution_id: str | None = None
    status: Literal["started", "delivered", "pending", "filtered", "rejected", "repeated", "dry_run"]
    passes: bool = True
    reason: str = ""
    input: Value = None


class HookReceipt(Resource, frozen=True, kw_only=True):
    """What became of a delivery of a webhook; the same delivery again gets the same."""

    input_id: str
    status: Literal["started", "delivered", "pending", "filtered", "rejected", "challenge"]
    execution_id: str | None = None
    reason: str = ""


class Backfilled(Resource, frozen=True, kw_only=True):
    """The occurrences that a backfill starts; those that were started before are passed over."""

    items: tuple[TriggerOccurrence, ...] = ()
    passed_over: int = 0
    dry_run: bool = False


class Replayed(Resource, frozen=True, kw_only=True):
    """How many rejected inputs are tried once more; `next` goes back in as `cursor` while there are others."""

    replayed: int
    next: str | None = None


class ReplayWhere(Body, frozen=True, kw_only=True):
    """Which rejected inputs, the newest first: at most so many, from a cursor on."""

    state: Literal["rejected"] = "rejected"
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100
    cursor: Annotated[str, Meta(max_length=1_000)] | None = None


class ReplayBody(Body, frozen=True, kw_only=True):
    """Which inputs are tried once more."""

    where: ReplayWhere = ReplayWhere()


class TriggerResumeBody(Body, frozen=True, kw_only=True):
    """How a trigger goes on: with `catch_up`, occurrences of the pause are made up for as the schedule says."""

    catch_up: bool = False


class TriggerPauseBody(Body, frozen=True, kw_only=True):
    """Why a trigger is paused."""

    reason: Reason | None = None


class TriggerRewindBody(Body, frozen=True, kw_only=True):
    """The cursor from which a poll goes on; null is the beginning."""

    cursor: Annotated[str, Meta(max_length=16_000)] | None


class RotateTokenBody(Body, frozen=True, kw_only=True):
    """How long the tokens before are still taken."""

    grace: Length | None = None


class FireBody(Body, frozen=True, kw_only=True):
    """An input by hand; the same id again is the same input."""

    data: Value = None
    id: InputId | None = None
    dry_run: bool = False


class BackfillBody(Body, frozen=True, kw_only=True):
    """From when (included) to when (not included) occurrences are started; `again` starts them once more."""

    from_: Annotated[str, Meta(max_length=64)] = msgspec.field(name="from")
    to: Annotated[str, Meta(max_length=64)]
    again: bool = False
    dry_run: bool = False
