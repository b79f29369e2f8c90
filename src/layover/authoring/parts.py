"""The small parts of a node that have fields of their own. Fields that are left out have the default of the format."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal, TypeAlias

import msgspec

Duration: TypeAlias = str | timedelta  # `1h30m`, or a timedelta


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a node, or of the settings of a workflow."""


class Retry(Part, frozen=True):
    """How often and how patiently a failed node is tried again; `max_attempts` counts every call."""

    max_attempts: int | Literal["forever"] | None = None
    delay: Duration | None = None
    multiplier: float | None = None
    max_delay: Duration | None = None
    jitter: float | None = None
    retry_on: Sequence[str] | None = None
    ignore: Sequence[str] | None = None
    on_exhausted: Literal["fail", "pause"] | None = None


class Concurrency(Part, frozen=True):
    """How many executions of a workflow (with the same key) may run at once, and what happens to one more."""

    limit: int
    key: str | None = None
    on_conflict: Literal["queue", "reject", "cancel_running"] | None = None


class Rate(Part, frozen=True):
    """How many executions of a workflow (with the same key) may start in a length of time; one more waits."""

    limit: int
    per: Duration
    key: str | None = None


class People(Part, frozen=True, kw_only=True):
    """Who is asked: users, roles, or an expression that gives user names."""

    users: Sequence[str] | None = None
    roles: Sequence[str] | None = None
    expression: str | None = None


class Escalation(Part, frozen=True):
    """Who is asked as well after a while."""

    after: Duration
    to: People


class AwaitedSignal(Part, frozen=True):
    """One of several signals that a node waits for."""

    alias: str
    signal: str
    key: str | None = None
    filter: str | None = None
    required: bool | None = None


class CatchUp(Part, frozen=True):
    """Which missed occurrences of a schedule are made up for, and how old the oldest may be."""

    which: Literal["none", "last", "all"] | None = None
    within: Duration | None = None


class InputDelivery(Part, frozen=True):
    """The signal that a trigger sends for each input, instead of starting an execution."""

    signal: str
    key: str | None = None
