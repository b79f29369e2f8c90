"""What operators see of a whole database: instances, timers, and figures over time."""

from __future__ import annotations

from typing import Literal

from layover.core.engine.state import ExecutionStatus
from layover.core.moments import Moment
from layover.model.executions import WaitingSummary
from layover.model.shared import ExecutionId, Resource

StatsSpan = Literal["hour", "day", "week"]


class RunningInstance(Resource, frozen=True, kw_only=True):
    """An engine that has the database open, or has left leases behind.

    `since` is known of the instance that answers, `seen_at` where instances send heartbeats (PostgreSQL). One that is
    not `alive` and still has executions was lost: other instances take those over when the leases end.
    """

    name: str
    alive: bool
    here: bool = False  # it answers this
    since: Moment | None = None
    seen_at: Moment | None = None
    executions: int = 0  # that it drives now; of all together, the 10,000 with the latest leases count


class DueTimer(Resource, frozen=True, kw_only=True):
    """An execution that an instance has to go on with at a moment, and that none drives now."""

    execution_id: ExecutionId
    workflow: str
    status: ExecutionStatus
    due_at: Moment
    overdue: bool = False  # it waits for an instance
    waiting_summary: WaitingSummary | None = None  # if it waits for something


class QueueLengths(Resource, frozen=True, kw_only=True):
    """How much waits now. Each number is counted up to a bound."""

    executions: dict[str, int] = {}  # by status, without those that have ended
    due: int = 0  # executions that wait for an instance
    oldest_due: Moment | None = None
    commands: int = 0  # that executions which are due have not applied
    messages: int = 0  # between executions
    oldest_message: Moment | None = None
    oldest_pause: Moment | None = None
    inputs: dict[str, int] = {}  # of triggers, that have not started anything yet, by `WORKFLOW/NAME`


class StatsBucket(Resource, frozen=True, kw_only=True):
    """What happened in a stretch of time.

    Executions count where they started and where they ended; a question to people counts where it was asked. At most
    5,000 rows of each kind are looked at: `capped` says that there were more.
    """

    start: Moment
    started: int = 0
    finished: int = 0
    failed: int = 0  # of those that finished
    duration_ms: int | None = None  # from start to end, on average
    asked: int = 0  # approvals and forms
    answered: int = 0  # of those: answered, expired or given up by now
    pause_ms: int | None = None  # how long those were open, on average
    longest_pause_ms: int | None = None
    capped: bool = False


class Stats(Resource, frozen=True, kw_only=True):
    """Figures over time, and how much waits now."""

    span: StatsSpan
    width_ms: int  # of one bucket
    until: Moment  # the end of the last bucket, which is not over
    queues: QueueLengths
    buckets: tuple[StatsBucket, ...]
