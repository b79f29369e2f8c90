"""The records of limits: how many executions may run or start, and which wait to be admitted."""

from __future__ import annotations

from typing import Literal

from layover.ports.records import StoreRecord


class RateLimit(StoreRecord, frozen=True, kw_only=True):
    """So many starts per duration, spread evenly once the first burst is used up."""

    name: str
    limit: int
    per_ms: int


class ConcurrencyLimit(StoreRecord, frozen=True, kw_only=True):
    """So many executions at once under a name, and the policy for one more."""

    name: str
    limit: int
    on_conflict: Literal["queue", "reject", "cancel_running"] = "queue"


class AdmissionRequest(StoreRecord, frozen=True, kw_only=True):
    """A request of an execution to start under limits; it holds its slot from then until it is closed."""

    execution_id: str
    slots: ConcurrencyLimit | None = None
    rate: RateLimit | None = None
    priority: int = 0


class Admission(StoreRecord, frozen=True, kw_only=True):
    """Whether an execution may start: now, at a moment, after others, or not at all.

    `admitted` puts the command `Admit` into its queue, once. `holders` are the executions that hold the slots; a
    `waiting` one is the `position`-th in the queue.
    """

    state: Literal["admitted", "later", "waiting", "rejected"]
    name: str = ""
    at: int | None = None
    position: int = 0
    holders: tuple[str, ...] = ()


class AdmissionRow(StoreRecord, frozen=True, kw_only=True):
    """The state of an execution under limits; without slots it has no `name`, and no queue to wait in.

    It exists from the first request until the execution is closed: it holds a slot since `held_at` or is queued by
    `rank`, then it has a moment to start at, then it is admitted. The request is stored with it.
    """

    execution_id: str
    name: str | None
    most: int | None
    rank: int
    held_at: int | None = None
    rate: RateLimit | None = None
    start_at: int | None = None
    admitted: bool = False

    @property
    def is_in_line(self) -> bool:
        """Whether it waits for a slot."""
        return self.name is not None and self.held_at is None
