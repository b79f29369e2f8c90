"""What waits for an instance, and which instances there are: what only the database itself can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.bootstrap import living_instances
from layover.core.moments import Moment
from layover.errors import Unavailable

if TYPE_CHECKING:
    from layover.admin.operator_engine import OperatorEngine

_DAY: Final = 86_400_000


class WorkQueue(msgspec.Struct, frozen=True, kw_only=True):
    """How many executions are due, how many commands were not applied, and the instances that are alive."""

    due: int
    oldest_due: Moment | None = None  # since when the first of them is due
    commands: int
    instances: tuple[str, ...] | None  # None if this user may not see them


async def queue_of(engine: OperatorEngine) -> WorkQueue:
    """Return what waits for an instance in the database of an engine."""
    gauges = await engine.read_gauges(_DAY)
    living: tuple[str, ...] | None = None
    try:
        living = tuple(await living_instances(engine.db))
    except Unavailable as error:
        if error.code != "denied":
            raise
    return WorkQueue(
        due=gauges.due,
        oldest_due=Moment.maybe(gauges.oldest_due),
        commands=gauges.commands,
        instances=living,
    )
