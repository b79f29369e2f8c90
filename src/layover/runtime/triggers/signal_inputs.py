"""Signals that fire triggers: each becomes an input, whose id is that of the signal.

A signal is offered to triggers before it is noted as dispatched. If the instance dies in between, the signal is offered
again, and a known id is a duplicate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.definitions.trigger_types import SignalTrigger
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.trigger_records import Reception
from layover.runtime.triggers.received import Payload, named_input, new_input, note_filtered

if TYPE_CHECKING:
    from layover.ports.records import Signal
    from layover.ports.store import Store
    from layover.ports.trigger_records import TriggerRow
    from layover.runtime.clock import Clock
    from layover.runtime.metrics import Metrics
    from layover.runtime.triggers.notes import FilteredNotes
    from layover.runtime.triggers.schedule_claimer import ScheduleClaimer
    from layover.runtime.triggers.trigger_runner import TriggerRunner


class SignalInputs:
    """Writes the inputs of triggers that signals fire."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        claimer: ScheduleClaimer,
        runner: TriggerRunner,
        metrics: Metrics,
        filtered: FilteredNotes,
    ) -> None:
        self._store = store
        self._clock = clock
        self._claimer = claimer
        self._runner = runner
        self._metrics = metrics
        self._filtered = filtered

    async def offer(self, signal: Signal, *, matched: bool) -> bool:
        """Write an input for each trigger that the signal fires; return whether all have taken it."""
        taken = True
        for row in await self._store.triggers.list_by_topic(signal.name):
            taken = await self._offer(row, signal, matched=matched) and taken
        return taken

    async def _offer(self, row: TriggerRow, signal: Signal, *, matched: bool) -> bool:
        now = self._clock.now()
        planned = await self._claimer.planned(row, now)
        if planned is None or not isinstance(planned.trigger, SignalTrigger):
            return False  # the newest version is not seen here yet, or the workflow is deleted
        if matched and planned.trigger.when == "unmatched":
            return True
        about = {"signal": signal.name, "key": signal.key}
        payload = Payload(input_id=signal.id, data=msgspec.json.decode(signal.data), headers=about)
        event = new_input(row, payload, now=now, dedup=planned.trigger.dedup, at=signal.at)
        named = named_input(row, planned, event, payload, now)
        if named is None:
            self._metrics.trigger_input(row.workflow, row.name, "filtered")
            note_filtered(self._filtered, row, planned, event, payload, now)
            return True
        kept = named.input
        if kept is None:
            return True
        reception = Reception(input=kept, event=named, most_pending=planned.trigger.max_pending)
        received = await self._store.triggers.receive(reception)
        if received.input is None:
            self._metrics.trigger_input(row.workflow, row.name, "full")
            return False
        if not received.repeated:
            reached(CommitPoint.INPUT_KEPT)
            self._runner.post(row, received.input)
        return True
