"""Which due occurrences of a schedule start, and which are skipped: decided by the claim, from what was read.

An occurrence that is due alone starts. If several are due, the schedule has missed some: it makes up for the last of
them, for all, or for none, as far as they are not too old. `room` is how many may start beside what is still open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from layover.core.calendar import (
    ZONE_DATA,
    Occurrence,
    count_occurrences,
    newest_occurrence,
    next_occurrence,
    starts_at,
)
from layover.core.schedules import schedule_of

if TYPE_CHECKING:
    from layover.core.calendar import Schedule
    from layover.core.definitions.trigger_types import ScheduleTrigger
    from layover.core.schedules import ScheduleCursor

MOST_AT_ONCE: Final = 100  # that one transaction starts
LATE: Final = 60_000  # milliseconds: an occurrence that is later than this was missed
TOO_OLD, MISSED, OVERLAP = "too_old", "missed", "overlap"


class Skip(NamedTuple):
    """Occurrences that do not start, from the first to the last, and why."""

    first: int
    last: int
    number: int
    reason: str


class Due(NamedTuple):
    """What becomes of the occurrences that are due, and where the schedule stands afterwards."""

    starts: tuple[Occurrence, ...]
    skips: tuple[Skip, ...]
    cursor: ScheduleCursor
    next_at: int | None  # None: there are no more


class _Claim:
    """One look at a schedule; the cursor moves on as occurrences are dealt with."""

    def __init__(self, trigger: ScheduleTrigger, trigger_id: str, cursor: ScheduleCursor, now: int) -> None:
        self.trigger = trigger
        self.trigger_id = trigger_id
        self.schedule: Schedule = schedule_of(trigger)
        self.cursor = cursor
        self.now = now
        self.starts: list[Occurrence] = []
        self.skips: list[Skip] = []

    def due(self) -> Occurrence | None:
        """Return the first occurrence behind the cursor, if it is due."""
        found = next_occurrence(self.schedule, self.cursor.after, self.cursor.count)
        if found is None or starts_at(self.schedule, self.trigger_id, found) > self.now:
            return None
        return found

    def newest(self, until: int) -> Occurrence | None:
        """Return the last occurrence behind the cursor that is due and not later than a moment."""
        found = newest_occurrence(self.schedule, self.cursor.after, until)
        if found is not None and starts_at(self.schedule, self.trigger_id, found) > self.now:
            return newest_occurrence(self.schedule, self.cursor.after, found.at - 1)  # no jitter reaches the next one
        return found

    def skip_to(self, last: Occurrence, reason: str) -> None:
        """Skip everything behind the cursor up to an occurrence."""
        first = next_occurrence(self.schedule, self.cursor.after, self.cursor.count)
        if first is None:
            return
        count = count_occurrences(self.schedule, self.cursor.after, last.at)
        self.skips.append(Skip(first.at, last.at, count, reason))
        self._move(last)

    def start(self, occurrence: Occurrence) -> None:
        """Start an occurrence, if there is room for it."""
        self.starts.append(occurrence)
        self._move(occurrence)
        self.cursor = replace(self.cursor, count=self.cursor.count + 1)

    def _move(self, to: Occurrence) -> None:
        self.cursor = replace(self.cursor, at=to.at, wall=to.wall, zone_data=ZONE_DATA)

    def result(self) -> Due:
        """Return what was decided."""
        following = next_occurrence(self.schedule, self.cursor.after, self.cursor.count)
        next_at = starts_at(self.schedule, self.trigger_id, following) if following is not None else None
        return Due(tuple(self.starts), tuple(self.skips), self.cursor, next_at)


def due_occurrences(
    trigger: ScheduleTrigger, trigger_id: str, cursor: ScheduleCursor, now: int, room: int | None
) -> Due:
    """Decide about the occurrences of a schedule that are due."""
    claim = _Claim(trigger, trigger_id, cursor, now)
    which, within = trigger.catch_up.which, max(trigger.catch_up.within, LATE)
    oldest = now - (LATE if which == "none" else within)
    first = claim.due()
    if first is not None and first.at < oldest and (last := claim.newest(oldest - 1)) is not None:
        claim.skip_to(last, MISSED if which == "none" else TOO_OLD)
    if which != "all":
        _start_last(claim, now, room)
    else:
        _start_all(claim, room)
    return claim.result()


def _start_last(claim: _Claim, now: int, room: int | None) -> None:
    newest = claim.newest(now)
    if newest is None or claim.due() is None:
        return
    before = newest_occurrence(claim.schedule, claim.cursor.after, newest.at - 1)
    if before is not None:
        claim.skip_to(before, MISSED)
    if room == 0:
        claim.skip_to(newest, OVERLAP)
    elif claim.due() is not None:
        claim.start(newest)


def _start_all(claim: _Claim, room: int | None) -> None:
    while (found := claim.due()) is not None and len(claim.starts) < MOST_AT_ONCE:
        if room is not None and len(claim.starts) >= room:
            last = claim.newest(claim.now)
            claim.skip_to(last if last is not None else found, OVERLAP)
            return
        claim.start(found)
