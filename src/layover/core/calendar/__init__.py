"""The calendar: when a schedule happens. Pure: the same schedule and the same instant always give the same answer.

    nightly = Schedule(cron="30 2 * * MON-FRI", zone="Europe/Berlin")
    check_schedule(nightly)                 # ScheduleError names the field that is wrong
    first = next_occurrence(nightly, now)   # an Occurrence, or None when nothing follows
    then = next_occurrence(nightly, first)  # keep the whole occurrence as a cursor: newer zone data repeat no day
    starts_at(nightly, trigger_id, first)   # its instant, moved by the jitter

Instants are milliseconds since 1970 UTC. `newest_occurrence` and `count_occurrences` are for what was missed;
`next_cron` is the calendar for one cron line alone. `ZONE_DATA` is the release of the zone data of this process.
"""

from layover.core.calendar.cron import Cron, ScheduleError, parse_cron
from layover.core.calendar.cron_times import next_cron
from layover.core.calendar.schedule import (
    Occurrence,
    Schedule,
    check_schedule,
    count_occurrences,
    newest_occurrence,
    next_occurrence,
    starts_at,
)
from layover.core.calendar.zones import ZONE_DATA, zone_named

__all__ = [
    "ZONE_DATA",
    "Cron",
    "Occurrence",
    "Schedule",
    "ScheduleError",
    "check_schedule",
    "count_occurrences",
    "newest_occurrence",
    "next_cron",
    "next_occurrence",
    "parse_cron",
    "starts_at",
    "zone_named",
]
