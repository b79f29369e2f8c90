"""Signals and callbacks."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from layover.model.shared import Body, Resource, Value


class SignalBody(Body, frozen=True, kw_only=True):
    """A signal; the same id again is the same signal."""

    name: Annotated[str, Meta(min_length=1, max_length=255, examples=["payment.settled"])]
    key: Annotated[str, Meta(max_length=255)] = ""
    data: Value = None
    id: Annotated[str, Meta(min_length=1, max_length=255)] | None = None


class SignalReceipt(Resource, frozen=True, kw_only=True):
    """What became of a signal: which executions were told of it; a known one is `repeated`, and ignored."""

    id: str
    matched: tuple[str, ...] = ()
    repeated: bool = False


class CallbackFailure(Body, frozen=True, kw_only=True):
    """Why what a callback waits for has failed."""

    message: Annotated[str, Meta(max_length=10_000)] = ""
    retryable: bool = True


class Accepted(Resource, frozen=True, kw_only=True):
    """It is taken."""

    status: Literal["accepted"] = "accepted"
