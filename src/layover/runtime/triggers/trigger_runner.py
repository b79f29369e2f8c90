"""Serves triggers: claims occurrences that are due and starts pending inputs, for as long as the instance lives.

It sleeps until the next moment at which something is due, which an index tells, or until a hint names an earlier one.
So triggers that rest cost nothing, however many there are. An instance that registers a trigger, or changes what is due
of one, tells the others; on SQLite the file itself does. What instances leave behind, because they stopped or died, is
found by looking once in five polls.

Pauses of whole workflows that end at a moment are served here, too.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

from layover.errors import LayoverError
from layover.ports.errors import StoreUnavailable
from layover.ports.hints import Hint
from layover.runtime.dispatch.releases import NoOthers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.access import WorkflowStatus
    from layover.ports.store import Store
    from layover.ports.trigger_records import InputRow, TriggerRow
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.releases import Others
    from layover.runtime.dispatch.service import Service
    from layover.runtime.metrics import Metrics
    from layover.runtime.settings import RuntimeSettings
    from layover.runtime.triggers.input_starter import InputStarter
    from layover.runtime.triggers.poller import Poller, StartableInput
    from layover.runtime.triggers.received import Payload
    from layover.runtime.triggers.schedule_claimer import ScheduleClaimer
    from layover.runtime.triggers.trigger_errors import TriggerErrors

_MOST_AT_ONCE = 100
_POLLS_AT_REST = 5  # between two looks while nothing is due, so that an idle instance hardly asks its database

_log = logging.getLogger("layover.triggers")


class DueWorkflows(Protocol):
    """Ends the pauses of workflows."""

    async def act_on_due(self, status: WorkflowStatus) -> bool:
        """End a pause, or go on with a resume; return whether it was done here."""


class TriggerRunner:
    """Serves what is due."""

    poller: Poller | None = None

    def __init__(  # noqa: PLR0913 - the parts of an instance that it needs
        self,
        store: Store,
        clock: Clock,
        settings: RuntimeSettings,
        claimer: ScheduleClaimer,
        starter: InputStarter,
        metrics: Metrics,
        *,
        errors: TriggerErrors,
    ) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._claimer = claimer
        self._starter = starter
        self._metrics = metrics
        self._errors = errors
        self._hinted = asyncio.Event()
        self._look_at = 0
        self._stopped = False
        self._kept: list[tuple[TriggerRow, InputRow]] = []  # inputs that were just stored here
        self.others: Others = NoOthers()
        self.workflows: DueWorkflows | None = None
        self._starting: set[tuple[str, str]] = set()  # those of a poll, by trigger and id

    def stop(self) -> None:
        """Serve no more; other instances serve the rest."""
        self._stopped = True
        self._hinted.set()

    def hint(self, at: int = 0) -> None:
        """Look at a moment at the latest."""
        self._look_at = min(self._look_at, at)
        self._hinted.set()

    def changed(self) -> None:
        """Look at once, and have other instances do so: something may be due that was not before."""
        self.hint()
        self.others.tell(Hint(kind="trigger"))

    def post(self, row: TriggerRow, one: InputRow) -> None:
        """Start an input that was just stored here."""
        if not self._stopped and one.due_at is not None:
            self._kept.append((row, one))
            self.hint()

    async def run(self, service: Service) -> None:
        """Serve until told to stop."""
        while not self._stopped:
            more = await self._round()
            service.succeeded()
            while not (more or self._kept or self._stopped) and self._look_at > self._clock.now():
                self._hinted.clear()
                await self._clock.wait(self._look_at, self._hinted)

    async def _round(self) -> bool:
        """Serve what is due; return whether there may be more."""
        kept, self._kept = self._kept, []
        await self._start(kept)
        now = self._clock.now()
        self._look_at = now + _POLLS_AT_REST * self._settings.poll
        due = await self._store.triggers.read_due(now, _MOST_AT_ONCE)
        if (
            kept or due.triggers or due.inputs or due.workflows
        ):  # whose next moments are known once they have been served
            self.hint(now + self._settings.poll)
        if due.next_due is not None:
            self.hint(due.next_due)
        moved = False
        for row in due.triggers:
            if row.type == "poll" and self.poller is not None:
                self.poller.begin(row)
            else:
                moved = await self._claim(row, now) or moved
        inputs = [one for one in due.inputs if (one.trigger_id, one.input_id) not in self._starting]
        await self._start(await self._with_triggers(inputs))
        for status in due.workflows:
            moved = await self._go_on(status) or moved
        return moved or (len(due.inputs) == _MOST_AT_ONCE and bool(inputs))

    async def _claim(self, row: TriggerRow, now: int) -> bool:
        """Claim what is due of a trigger, and start it; return whether it has moved on."""
        try:
            claimed = await self._claimer.claim(row, now)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one trigger that cannot work must not hold up the others
            await self._failed(row, error, now)
            return False
        for skip in claimed.skipped:
            self._metrics.trigger_input(row.workflow, row.name, "skipped", skip.number)
        await self._start((row, one) for one in claimed.inputs)
        return bool(claimed.inputs or claimed.skipped)

    async def _go_on(self, status: WorkflowStatus) -> bool:
        """End the pause of a workflow; return whether that was done here."""
        try:
            return self.workflows is not None and await self.workflows.act_on_due(status)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - one workflow must not hold up the others; it is due again
            _log.exception("workflow_not_resumed workflow=%s", status.workflow)
            return False

    async def _failed(self, row: TriggerRow, error: Exception, now: int) -> None:
        """Try a trigger again later; after ten failures in a row it is an error, and still tried."""
        message = error.message if isinstance(error, LayoverError) else f"{type(error).__name__}: {error}"
        text = "trigger_failed trigger=%s/%s failures=%d error=%s"
        _log.warning(text, row.workflow, row.name, row.failures + 1, message, exc_info=error)
        await self._errors.note(row, message, now)

    async def _with_triggers(self, inputs: Iterable[InputRow]) -> list[tuple[TriggerRow, InputRow]]:
        rows: dict[str, TriggerRow | None] = {}
        found: list[tuple[TriggerRow, InputRow]] = []
        for one in inputs:
            if one.trigger_id not in rows:
                rows[one.trigger_id] = await self._store.triggers.find(one.trigger_id)
            row = rows[one.trigger_id]
            if row is not None:
                found.append((row, one))
        return found

    async def _start(self, inputs: Iterable[tuple[TriggerRow, InputRow]]) -> None:
        await asyncio.gather(*(self.start_input(row, one) for row, one in inputs))

    def filtered(self, row: TriggerRow, count: int) -> None:
        """Count items that the filter did not let pass."""
        if count:
            self._metrics.trigger_input(row.workflow, row.name, "filtered", count)

    async def start_new(self, row: TriggerRow, inputs: Sequence[StartableInput]) -> None:
        """Start inputs that were just stored here, so many at once, the first ones first."""
        names, left = {(row.id, one.row.input_id) for one in inputs}, iter(inputs)

        async def start() -> None:
            for one in left:
                await self.start_input(row, one.row, one.payload)

        self._starting |= names
        try:
            await asyncio.gather(*(start() for _ in range(min(len(inputs), _MOST_AT_ONCE))))
        finally:
            self._starting -= names

    async def start_input(self, row: TriggerRow, one: InputRow, payload: Payload | None = None) -> str:
        """Start an input now, and count what became of it; its data are read unless they are given."""
        outcome = await self._starter.start(row, one, payload)
        if outcome == "later":
            self.hint(self._clock.now() + self._settings.poll)
        if outcome not in ("elsewhere", "later"):
            self._metrics.trigger_input(row.workflow, row.name, outcome)
        if outcome == "started":
            late = self._clock.now() - (one.at if one.at is not None else one.received_at)
            self._metrics.trigger_lateness.observe(max(late, 0) / 1000)
        return outcome
