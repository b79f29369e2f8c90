"""The records of queries: rows of lists, filters, figures, and what is known of calls."""

from __future__ import annotations

from layover.core.conditions import PathCondition
from layover.core.engine.events import PointKind
from layover.core.search_terms import TermSearch
from layover.ports.records import ClosedExecution, Entry, Head, NewExecution, PointRow, StoreRecord


class ExecutionRow(StoreRecord, frozen=True, kw_only=True):
    """An execution in a list."""

    head: Head
    info: NewExecution
    version: int  # the number of the version that it runs
    finished_at: int | None = None
    closed: ClosedExecution | None = None
    resume_count: int = 0


class Loaded(ExecutionRow, frozen=True, kw_only=True):
    """An execution with the sources of its state: a snapshot and the entries after it."""

    entries: tuple[Entry, ...]
    snapshot: bytes | None = None


class Standing(StoreRecord, frozen=True, kw_only=True):
    """Where an execution stands: when its log was last written, and what is open of the 100 newest of its pause points.

    `points` counts those, and `point` is one of them: the oldest, those that wait for people first.
    """

    updated_at: int
    points: int = 0
    point: PointRow | None = None


class ExecutionFilter(StoreRecord, frozen=True, kw_only=True):
    """The executions to list, newest first; `after` is the cursor of the last one seen.

    `where` is a JSON object with members: the input of an execution has to contain it, and to fulfil all `conditions`,
    which are about inputs only. An execution whose input is not indexed is found by neither. With `terms`, only those
    are looked at that the search index finds, that it does not have yet, and that are running.

    It was created from `since` on and before `until`. A duration is the time from its creation to its end, so only one
    that has ended has any. `q` is the beginning of its id (eight characters at least) or of its correlation id, or
    one of its tags. `user` has started it, and it runs one of the definitions `hashes`.

    It waits `on` one of these: a point of that kind is open, one for a `person`, it makes another attempt later and
    has no open point (`retry`), or it is paused and no point for a person is open (`operator`).
    """

    workflow: str | None = None
    status: tuple[str, ...] = ()
    tag: str | None = None
    parent_id: str | None = None
    where: bytes | None = None
    conditions: tuple[PathCondition, ...] = ()
    terms: TermSearch | None = None
    correlation_id: str | None = None
    error_code: str | None = None
    since: int | None = None
    until: int | None = None
    min_duration: int | None = None
    max_duration: int | None = None
    min_resumes: int | None = None
    resumed: bool | None = None
    user: str | None = None
    on: tuple[str, ...] = ()
    hashes: tuple[str, ...] | None = None
    q: str | None = None
    after: tuple[int, str] | None = None
    limit: int = 100


class PausedFilter(StoreRecord, frozen=True, kw_only=True):
    """The paused executions to list, longest pause first; `after` is the last one seen: its moment and id."""

    workflow: str | None = None
    after: tuple[int, str] | None = None
    limit: int = 100


class PointFilter(StoreRecord, frozen=True, kw_only=True):
    """The pause points to list, oldest first; `after` is the cursor of the last one seen."""

    execution_id: str | None = None
    workflow: str | None = None
    kind: PointKind | None = None
    status: tuple[str, ...] = ()
    after: tuple[int, str] | None = None
    limit: int = 100


class AwaitedCounts(StoreRecord, frozen=True, kw_only=True):
    """How many executions wait on what, by the words that a filter has for it; without those that none waits on."""

    executions: dict[str, int]
    more: bool = False  # of something, only the first were looked at


class RestingPoints(StoreRecord, frozen=True, kw_only=True):
    """Points of one place in executions of a workflow that are not closed."""

    node: str  # with the rounds around it
    kind: PointKind
    count: int
    oldest: int


class RestingCounts(StoreRecord, frozen=True, kw_only=True):
    """What has not ended of a workflow, and where it waits. Each count has a bound."""

    executions: dict[str, int]  # by status, without those that have ended
    points: tuple[RestingPoints, ...] = ()
    more: bool = False  # a bound was reached


class Gauges(StoreRecord, frozen=True, kw_only=True):
    """The figures of a store: executions that have not ended, and how many wait for what. Each count has a bound."""

    executions: dict[str, int]  # by status, without those that have ended
    paused: dict[str, int] = {}  # by workflow
    paused_long: int = 0  # since before a moment
    oldest_paused: int | None = None  # the start of the longest pause
    due: int = 0  # wait to be claimed by an instance
    oldest_due: int | None = None  # when the first of them came due
    commands: int = 0  # in the queues of those that are due
    messages: int = 0  # in the outbox
    oldest_message: int | None = None  # when the first of them came due
    triggers: dict[str, int] = {}  # by state
    pending_inputs: dict[str, int] = {}  # by trigger, `WORKFLOW/NAME`
    unindexed: int = 0  # executions that the search index does not have yet
    size: int | None = None  # of the file, in bytes
    free: int | None = None  # on its disk, in bytes


class ActivityBucket(StoreRecord, frozen=True, kw_only=True):
    """What happened in a stretch of time: executions by their start and their end, and points that asked people.

    A point counts where it was opened: `waited` adds up how long those of them that were closed had been open.
    """

    start: int
    started: int = 0
    finished: int = 0
    failed: int = 0  # of those that finished
    took: int = 0  # milliseconds from start to end, added up
    asked: int = 0
    answered: int = 0  # of those that were asked
    waited: int = 0
    longest_wait: int = 0


class Fault(StoreRecord, frozen=True, kw_only=True):
    """A fault that only the store itself can see; without an execution it concerns the whole database."""

    code: str
    message: str
    execution_id: str = ""


class NodeProgress(StoreRecord, frozen=True, kw_only=True):
    """How far a call is, as its function has reported last; `body` is JSON."""

    execution_id: str
    node: str
    attempt: int
    at: int
    body: bytes


class LogChunk(StoreRecord, frozen=True, kw_only=True):
    """Log lines of an attempt, compressed; `dropped` is how many lines of the attempt are missing before them."""

    execution_id: str
    id: str  # a UUID that is ordered by time
    node: str
    attempt: int
    at: int
    lines: int
    dropped: int
    body: bytes


class LogTrim(StoreRecord, frozen=True, kw_only=True):
    """Chunks of an attempt that are no longer kept, and how many lines are missing before the chunk after them."""

    execution_id: str
    removed: tuple[str, ...]
    following: str
    dropped: int
