"""Forks of executions: what is asked for, and what one would repeat."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from layover.model.shared import Body, ContextId, Reason, Resource, Uuid, Value


class ForkPlan(Resource, frozen=True, kw_only=True):
    """What a fork would keep and repeat of its origin, in context ids; nothing was changed.

    A loop or parallel stands for all that was in rounds and branches that are done.
    """

    at: int  # the number of the event after which the origin is taken
    version: int | None = None  # of the workflow that the fork would run
    kept: tuple[ContextId, ...] = ()  # nodes whose results the fork begins with
    repeated: tuple[ContextId, ...] = ()  # nodes that the origin had reached, and that the fork starts again
    dropped: tuple[ContextId, ...] = ()  # those of them whose results it does not have
    superseded: tuple[ContextId, ...] = ()  # none: the pause points of the origin stay as they are
    calls: tuple[ContextId, ...] = ()  # those that called, started a child or sent in the origin, and do it again
    variables: dict[str, Value] = {}  # that the fork begins with


class ForkBody(Body, frozen=True, kw_only=True):
    """What the fork goes on `from`: a node, or the event of a number, after which it does. Default: the newest event.

    Without an `input` or a `version` it has those of its origin.
    """

    start: ContextId | Annotated[int, Meta(ge=0)] | None = msgspec.field(default=None, name="from")
    input: Value | msgspec.UnsetType = msgspec.UNSET
    version: Annotated[int, Meta(ge=1)] | None = None
    id: Uuid | None = None
    reason: Reason | None = None
    dry_run: bool = False  # answer the plan, and change nothing
