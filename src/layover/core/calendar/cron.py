"""Cron lines: five fields, or a name such as `@daily`; `cronsim` finds the next time on a wall clock without a zone.

Text from outside is bounded before `cronsim` reads it, and a line for which no day exists (30 February) is refused.
`cronsim` is loaded when the first cron line is read, which keeps the start fast.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from cronsim import CronSim

_NAMED: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_LONGEST: Final = 200
_FIELDS: Final = ("a minute", "an hour", "a day of the month", "a month", "a day of the week")
_SOME_DAY: Final = datetime(2000, 1, 1)  # noqa: DTZ001 - wall times have no zone
_SECOND: Final = timedelta(seconds=1)


class ScheduleError(ValueError):
    """A schedule that cannot be: `field` is the part that is wrong, the message a sentence for people."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class Cron(msgspec.Struct, frozen=True):
    """A cron line that can happen; `fixed` ones name their minutes and hours, so they happen once for each."""

    line: str
    fixed: bool

    def walls(self, begin: datetime) -> CronSim:
        """Return the matching times of a wall clock, in order, from `begin` on."""
        from cronsim import CronSim  # noqa: PLC0415 - only where there are cron lines

        return CronSim(self.line, begin - _SECOND)


@lru_cache(maxsize=1024)
def parse_cron(text: str) -> Cron:
    """Return the cron line that a text is; ScheduleError says what is wrong with it."""
    from cronsim import CronSimError  # noqa: PLC0415 - only where there are cron lines

    if len(text) > _LONGEST or not text.isascii():
        raise ScheduleError("cron", f"A cron line has at most {_LONGEST} characters, all of them ASCII.")
    line = _NAMED.get(text.strip().lower()) or " ".join(text.upper().split())
    if line.startswith("@"):
        raise ScheduleError("cron", f"`{text}` is not one of {', '.join(f'`{name}`' for name in _NAMED)}.")
    fields = line.split(" ")
    if len(fields) != len(_FIELDS):
        raise ScheduleError(
            "cron", f"`{text}` is not a cron line: it has five fields ({', '.join(_FIELDS)}), as in `30 2 * * MON-FRI`."
        )
    _check_fields(text, fields)
    cron = Cron(line, fixed=not fields[0].startswith("*") and not fields[1].startswith("*"))
    try:
        happens = next(cron.walls(_SOME_DAY), None) is not None
    except CronSimError:  # the fields are right, so it is the day that no month has
        happens = False
    if not happens:
        raise ScheduleError("cron", f"`{text}` can never happen: there is no such day.")
    return cron


def _check_fields(text: str, fields: list[str]) -> None:
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - only where there are cron lines

    for position, (field, name) in enumerate(zip(fields, _FIELDS, strict=True)):
        alone = ["*"] * len(_FIELDS)
        alone[position] = field
        try:
            CronSim(" ".join(alone), _SOME_DAY)
        except CronSimError as error:
            raise ScheduleError("cron", f"`{field}` in `{text}` is not {name}.") from error
