"""What a failure makes of a trigger, and who is told of it: once when it becomes an error, in the same transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from layover.core.notifications import NOTIFY, TRIGGER_ERROR, Occasion
from layover.core.notify_rules import occasions_of
from layover.errors import LayoverError
from layover.ports.records import Message
from layover.runtime.triggers.back_off import failed_move

if TYPE_CHECKING:
    from layover.ports.store import Store
    from layover.ports.trigger_records import PollLease, TriggerMove, TriggerRow
    from layover.runtime.plans import Plans
    from layover.runtime.settings import RuntimeSettings


class TriggerErrors:
    """Notes the failures of triggers."""

    def __init__(self, store: Store, plans: Plans, settings: RuntimeSettings) -> None:
        self._store = store
        self._plans = plans
        self._is_told_of_all = TRIGGER_ERROR in occasions_of(settings.notify)

    async def note(self, row: TriggerRow, message: str, now: int, lease: PollLease | None = None) -> bool:
        """Note a failure: it is tried again later; false if somebody else was first."""
        move = failed_move(row, message, now, lease)
        if move.state == "error" and row.state != "error":
            move = replace(move, messages=await self._messages(row, move))
        return await self._store.triggers.move(move)

    async def _messages(self, row: TriggerRow, move: TriggerMove) -> tuple[Message, ...]:
        """Return the message of a trigger that becomes an error, if its workflow or the settings ask for that."""
        try:
            plan = await self._plans.latest(row.workflow, move.at)
        except LayoverError:  # perhaps that is why it fails
            plan = None
        of_workflow = plan is not None and TRIGGER_ERROR in plan.occasions
        if not (of_workflow or self._is_told_of_all):
            return ()
        occasion = Occasion(
            kind=TRIGGER_ERROR,
            workflow=row.workflow,
            hash=plan.hash if plan is not None and of_workflow else "",
            subject=f"{row.workflow}/{row.name}",
            reason=move.reason,
        )
        body, n = msgspec.json.encode(occasion), move.expected_seq + len(move.events)
        return (Message(sender=row.id, n=n, destination=NOTIFY, kind=NOTIFY, body=body, due_at=move.at),)
