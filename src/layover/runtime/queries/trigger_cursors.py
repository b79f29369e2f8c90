"""The cursor of the trigger that has started an execution, as it is now: read from the trigger when it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from layover.core.trigger_limits import REQUESTER
from layover.runtime.results.triggers import cursor_text

if TYPE_CHECKING:
    from layover.model.executions import Execution
    from layover.ports.families.triggers import TriggerStore

_WITH_CURSOR: Final = frozenset({"poll", "schedule"})


async def with_trigger_cursors(found: Execution, triggers: TriggerStore) -> Execution:
    """Return an execution with the cursor of its trigger; what no poll and no schedule has started needs no read."""
    trigger = found.trigger
    # Callers can give an execution any `trigger`, but none can start it as a trigger.
    if not isinstance(trigger, dict) or trigger.get("type") not in _WITH_CURSOR:
        return found
    if found.user is None or not found.user.startswith(REQUESTER):
        return found
    row = await triggers.find(str(trigger.get("trigger_id")))
    cursor = cursor_text(row) if row is not None else None
    return replace(found, trigger_cursors={row.name: cursor}) if row is not None and cursor is not None else found
