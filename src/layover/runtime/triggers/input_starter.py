"""Turns pending inputs into executions, or into the signals that a trigger delivers instead.

An execution is created in the same transaction that marks its input as started; so however many instances try, one
execution exists. An input that cannot start (its filter, a template or the schema of the workflow refuses it) is
rejected and kept with its reason. Other faults are tried again.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal, TypeAlias

from layover.core.definitions.trigger_types import ScheduleTrigger
from layover.core.expressions.errors import ExpressionError
from layover.core.payloads import MAX_TRIGGER
from layover.core.trigger_inputs import passes, render_signal, render_start
from layover.errors import InvalidInput, LayoverError, NotFound, WrongState
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreUnavailable
from layover.ports.records import InputKey
from layover.ports.trigger_records import InputChange
from layover.runtime.operations.start_options import Options, creation
from layover.runtime.operations.starter import check_input
from layover.runtime.triggers.planned import planned_of
from layover.runtime.triggers.received import decode_payload, trigger_object
from layover.runtime.triggers.registration import execution_id_of, requester_of

if TYPE_CHECKING:
    from layover.core.plan import PlannedTrigger
    from layover.core.trigger_inputs import SignalToSend
    from layover.ports.store import Store
    from layover.ports.trigger_records import InputRow, InputState, TriggerRow
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.operations.signals import Signals
    from layover.runtime.operations.starter import Starter
    from layover.runtime.plans import Plans, Startable
    from layover.runtime.triggers.received import Payload

REJECTED_FOR = 30 * 86_400_000  # milliseconds that a rejected input is kept
_TRIES = 3
_LOOK_AGAIN = 10_000  # while the workflow is paused or not active
_PAUSES = (1_000, 10_000)

Outcome: TypeAlias = Literal["started", "delivered", "filtered", "rejected", "later", "elsewhere"]

_log = logging.getLogger("layover.triggers")


class InputStarter:
    """Starts pending inputs."""

    def __init__(self, store: Store, driver: Driver, plans: Plans, starter: Starter, signals: Signals) -> None:
        self._store = store
        self._driver = driver
        self._plans = plans
        self._starter = starter
        self._signals = signals

    async def start(self, row: TriggerRow, one: InputRow, payload: Payload | None = None) -> Outcome:
        """Start an input; if it cannot be now, it is rejected, or due again later."""
        try:
            return await self._start(row, one, payload)
        except StoreUnavailable:
            raise
        except (ExpressionError, InvalidInput) as error:
            return await self._reject(row, one, error.message)
        except LayoverError as error:
            return await self._again(row, one, error.message)

    async def _start(self, row: TriggerRow, one: InputRow, payload: Payload | None) -> Outcome:
        now = self._driver.clock.now()
        try:
            startable = await self._plans.startable(row.workflow, None, now)
        except (NotFound, WrongState):
            return await self._postpone(one, now)
        if startable.held is not None:
            return await self._postpone(one, now)
        planned = planned_of(startable.plan, row)
        if planned is None:
            return await self._reject(row, one, "Its trigger was removed from the workflow.")
        payload = payload if payload is not None else await self._payload(one)
        if payload is None:
            return await self._reject(row, one, "Its data are gone.")
        trigger = trigger_object(row, one, payload)
        if not passes(planned, trigger, now):
            return await self._change(one, "skipped", "filtered", "filtered")
        signal = render_signal(planned, trigger, now)
        if signal is not None:
            return await self._deliver(row, one, signal)
        return await self._create(row, one, startable, planned, trigger)

    async def _payload(self, one: InputRow) -> Payload | None:
        events = await self._store.triggers.list_events(one.trigger_id, one.seq - 1, 1)
        return decode_payload(events[0].body) if events and events[0].seq == one.seq else None

    async def _create(
        self,
        row: TriggerRow,
        one: InputRow,
        startable: Startable,
        planned: PlannedTrigger,
        trigger: dict[str, object],
    ) -> Outcome:
        now, id_ = self._driver.clock.now(), execution_id_of(row.id, one.input_id)
        start = render_start(planned, trigger, now)
        check_input(startable.plan, start.input)
        if isinstance(planned.trigger, ScheduleTrigger):
            trigger["overlap"] = planned.trigger.overlap
        options = Options(
            user=requester_of(row.workflow, row.name),
            tags=start.tags,
            priority=start.priority,
            correlation_id=start.correlation_id,
            trigger=trigger,
            largest_trigger=MAX_TRIGGER,  # what was accepted can be started: its data were measured without all else
        )
        new, create = creation(startable, id_, start.input, options, now=now, instance=self._driver.instance)
        if await self._driver.is_begun(id_):
            return "elsewhere"
        marked = InputKey(trigger_id=row.id, input_id=one.input_id)
        begun = self._starter.begin(startable.plan, new, create, trigger_input=marked)
        outcome = await begun.active.created
        if outcome.verdict == "exists":
            return await self._lost(row, one, id_)
        reached(CommitPoint.INPUT_STARTED)
        if outcome.verdict == "passed" and begun.request is not None and begun.message is not None:
            await self._starter.apply(begun.request, begun.message)
        return "started"

    async def _lost(self, row: TriggerRow, one: InputRow, execution_id: str) -> Outcome:
        """Another starter was first; or somebody has started an execution under this id by hand."""
        known = await self._store.triggers.find_input(one.trigger_id, one.input_id)
        if known is None or known.state != "pending":
            return "elsewhere"
        return await self._reject(row, one, f"There is an execution {execution_id} already.")

    async def _deliver(self, row: TriggerRow, one: InputRow, signal: SignalToSend) -> Outcome:
        await self._signals.deliver(signal.name, signal.key, signal.data, id=execution_id_of(row.id, one.input_id))
        return await self._change(one, "delivered", "", "delivered")

    async def _reject(self, row: TriggerRow, one: InputRow, reason: str) -> Outcome:
        _log.warning(
            "trigger_input_rejected trigger=%s/%s input=%s reason=%s", row.workflow, row.name, one.input_id, reason
        )
        return await self._change(one, "rejected", reason[:1_000], "rejected", REJECTED_FOR)

    async def _change(
        self, one: InputRow, state: InputState, reason: str, outcome: Outcome, kept_for: int = 0
    ) -> Outcome:
        change = InputChange(
            trigger_id=one.trigger_id,
            input_id=one.input_id,
            of=("pending",),
            state=state,
            attempts=one.attempts + 1,
            reason=reason,
            forget_at=self._driver.clock.now() + kept_for if kept_for else 0,
        )
        return outcome if await self._store.triggers.change_input(change) else "elsewhere"

    async def _again(self, row: TriggerRow, one: InputRow, message: str) -> Outcome:
        """Try later what may be a fault that passes; after three tries it is rejected."""
        if one.attempts + 1 >= _TRIES:
            return await self._reject(row, one, message)
        return await self._later(one, self._driver.clock.now() + _PAUSES[one.attempts], one.attempts + 1, message)

    async def _postpone(self, one: InputRow, now: int) -> Outcome:
        return await self._later(one, now + _LOOK_AGAIN, one.attempts, "The workflow is not active.")

    async def _later(self, one: InputRow, due_at: int, attempts: int, reason: str) -> Outcome:
        change = InputChange(
            trigger_id=one.trigger_id,
            input_id=one.input_id,
            of=("pending",),
            state="pending",
            due_at=due_at,
            attempts=attempts,
            reason=reason[:1_000],
        )
        await self._store.triggers.change_input(change)
        return "later"
