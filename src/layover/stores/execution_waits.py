"""What executions wait on, as a search for them has it.

Pause points are in a table of their own, so the row of an execution does not tell: a store reads the kinds of the
open points of candidates. If few points of a kind wait at all, their executions are the candidates. If there are many,
those that wait are found among the newest that are open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from msgspec.structs import replace

from layover.core.engine.events import PointKind
from layover.core.engine.state import PEOPLE
from layover.ports.view_records import AwaitedCounts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from layover.ports.view_records import ExecutionFilter, ExecutionRow

MOST_WAITING: Final = 2_000  # points of some kinds, whose executions are candidates
_BEGUN: Final = ("running", "pausing", "waiting", "paused")  # in which a point can be open
_STATUSES: Final[dict[str, tuple[str, ...]]] = {"retry": ("waiting",), "operator": ("paused",)}


# The words of a filter that stand for kinds of points, and those kinds.
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "person": tuple(sorted(PEOPLE)),
    **{kind: (kind,) for kind in sorted(get_args(PointKind))},
}


def awaited_counts(counted: Mapping[str, tuple[int, int]], most: int) -> AwaitedCounts:
    """Return what was counted: by word, how many executions, and of how many that were looked at."""
    return AwaitedCounts(
        executions={word: count for word, (count, _) in sorted(counted.items()) if count},
        more=any(looked_at >= most for _, looked_at in counted.values()),
    )


def of_those_that_wait(wanted: ExecutionFilter) -> ExecutionFilter | None:
    """Return the filter with the statuses in which an execution can wait as it says; None if nothing fits it."""
    if wanted.hashes == ():
        return None
    if not wanted.on:
        return wanted
    possible = dict.fromkeys(status for word in wanted.on for status in _STATUSES.get(word, _BEGUN))
    statuses = tuple(status for status in possible if not wanted.status or status in wanted.status)
    return replace(wanted, status=statuses) if statuses else None


def kinds_awaited(wanted: ExecutionFilter) -> tuple[str, ...] | None:
    """Return the kinds of points of which one is open at each execution that fits; None if others fit, too."""
    if not wanted.on or not _STATUSES.keys().isdisjoint(wanted.on):
        return None
    return tuple(sorted({kind for word in wanted.on for kind in KINDS[word]}))


def those_that_wait(
    rows: Iterable[ExecutionRow], kinds: Mapping[str, Collection[str]], wanted: ExecutionFilter
) -> list[ExecutionRow]:
    """Return executions that wait on what a filter says, by the kinds of their open points."""
    return [
        row
        for row in rows
        if not wanted.on or any(_waits(row, kinds.get(row.head.execution_id, ()), word) for word in wanted.on)
    ]


def _waits(row: ExecutionRow, kinds: Collection[str], word: str) -> bool:
    match word:
        case "person":
            return any(kind in kinds for kind in PEOPLE)
        case "operator":
            return row.head.status == "paused" and not any(kind in kinds for kind in PEOPLE)
        case "retry":
            return row.head.status == "waiting" and not kinds and row.head.wake_at is not None
        case _:
            return word in kinds
