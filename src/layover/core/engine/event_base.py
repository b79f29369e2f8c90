"""The base of all events, and the words that they share with the state."""

from __future__ import annotations

from typing import Literal

import msgspec

PointKind = Literal["timer", "approval", "form", "signal", "callback", "child", "delivery"]
ScopeEnd = Literal["done", "skipped", "broken", "failed", "cancelled"]
Cause = Literal["reached", "retried", "recovered", "answered"]
NodeStatus = Literal[
    "idle",  # some of its edges are settled
    "ready",  # it may start
    "scheduled",  # a call will be made
    "queued",  # a call will be made as soon as a call slot is free
    "running",  # a call is being made
    "entered",  # a container whose scopes are at work
    "waiting",  # its pause point is open
    "backoff",  # it failed and will be tried again
    "incident",  # it failed for good and waits for an operator
    "stopped",  # it was given up because its scope or execution ended
    "completed",
    "failed",
    "skipped",
]
Fate = NodeStatus | Literal["in_doubt"]  # its call is out, and the execution no longer waits for it


# The fields of every step have short names: they are most of a log.
_STORED_AS = {"node": "n", "node_type": "of", "input": "in", "output": "out", "duration_ms": "ms"}


class DomainEvent(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    tag_field="t",
    rename=_STORED_AS,
    gc=False,
):
    """A fact in the log of one execution."""


class Error(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The error that later nodes read as `errors.<id>`."""

    code: str
    message: str
    type: str = ""
    retryable: bool = True
    attempt: int = 0
    context_id: str = ""
    status: int | None = None
    details: object = None
