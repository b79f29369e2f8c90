"""When a pause ends by itself, as programs give it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from layover.interface.backend import ResumeTime
from layover.interface.bounds import check_text, refused

_LONGEST_CRON: Final = 200
_LONGEST_ZONE: Final = 64


def resume_time(
    at_name: str, at: datetime | None, cron_name: str, cron: str | None, zone: str | None
) -> ResumeTime | None:
    """Return what was given, or None; refuse two at once, and a time without a zone."""
    check_text(cron_name, cron, _LONGEST_CRON, 1)
    check_text("zone", zone, _LONGEST_ZONE, 1)
    if at is not None and cron is not None:
        raise refused(at_name, f"give `{at_name}` or `{cron_name}`, not both")
    if zone is not None and cron is None:
        raise refused("zone", f"it belongs to `{cron_name}`")
    if at is None:
        return None if cron is None else ResumeTime(cron=cron, zone=zone)
    given: object = at  # Python passes whatever it is given
    if not isinstance(given, datetime) or given.tzinfo is None:
        raise refused(at_name, f"{at!r:.100} is not a `datetime` with a time zone")
    return ResumeTime(at=at.astimezone(UTC).isoformat(timespec="milliseconds"))
