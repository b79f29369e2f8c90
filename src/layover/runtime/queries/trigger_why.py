"""Why a trigger does not fire: what keeps it from doing so, the nearest cause first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.calendar import ZONE_DATA
from layover.core.definitions.trigger_types import ScheduleTrigger
from layover.core.moments import Moment, moment
from layover.core.schedules import decode_cursor
from layover.model.executions import Why, WhyReason
from layover.ports.errors import StoreUnavailable
from layover.ports.trigger_records import InputFilter
from layover.runtime.triggers.planned import planned_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.model.triggers import Trigger
    from layover.ports.trigger_records import TriggerRow
    from layover.runtime.instance import Instance
    from layover.runtime.queries.queries import Queries

_LOOKED_AT = 100  # events of its log, newest last


async def why_trigger(instance: Instance, queries: Queries, row: TriggerRow, shown: Trigger) -> Why:
    """Return why a trigger does not fire, or when it will."""
    reasons = [reason async for reason in _reasons(instance, queries, row, shown)]
    if not reasons:
        reasons = [WhyReason(kind="ready", text="It fires when something arrives.")]
    return Why(summary=reasons[0].text, reasons=tuple(reasons))


async def _reasons(instance: Instance, queries: Queries, row: TriggerRow, shown: Trigger) -> AsyncIterator[WhyReason]:
    if shown.state in ("paused", "stopped", "error"):
        said = f": {shown.reason}" if shown.reason else "."
        yield WhyReason(kind=shown.state, text=f"It is {shown.state}{said}")
    if shown.state == "initialized":
        yield WhyReason(kind="initialized", text="Its `from` is not reached.")
    if instance.settings.executions <= 0 and not await _may_have_others(instance):
        yield WhyReason(kind="no_instance", text="No instance is running that could serve it.")
    async for reason in _of_schedule(instance, queries, row):
        yield reason
    async for reason in _of_log(instance, row):
        yield reason
    async for reason in _of_inputs(instance, row):
        yield reason
    refused = instance.webhooks.refused.get(row.id)
    if refused is not None:
        ahead = "" if refused.skew is None else f"; the clock of its sender was {refused.skew / 1000:+.0f} s off"
        text = f"The last refused delivery: {refused.reason.replace('_', ' ')}{ahead}."
        yield WhyReason(kind="refused_delivery", text=text, since=Moment.of(refused.at))
    if row.failures:
        yield WhyReason(
            kind="back_off",
            text=f"It failed {row.failures} times in a row: {row.reason}",
            until=Moment.maybe(row.next_at),
        )


async def _may_have_others(instance: Instance) -> bool:
    """Return whether another instance may serve the trigger; who only reads a database cannot tell."""
    try:
        return bool(await instance.store.instances.list_others())
    except StoreUnavailable:
        return True


async def _of_schedule(instance: Instance, queries: Queries, row: TriggerRow) -> AsyncIterator[WhyReason]:
    plan = await instance.plans.latest(row.workflow, instance.clock.now())
    planned = planned_of(plan, row) if plan is not None else None
    if planned is None or not isinstance(planned.trigger, ScheduleTrigger):
        return
    if decode_cursor(row.cursor).zone_data > ZONE_DATA:
        yield WhyReason(kind="zone_data", text="This instance has older time zone data than the schedule.")
    if row.next_at is not None:
        yield WhyReason(kind="next", text=f"It is due at {moment(row.next_at)}.", until=Moment.of(row.next_at))
    if planned.trigger.overlap == "allow":
        return
    for execution_id in (await instance.store.triggers.read_overlapping(row.id)).open[:1]:
        because = await queries.why(execution_id)
        yield WhyReason(
            kind="overlap",
            text=f"Its last execution is open: {because.summary}",
            execution=execution_id,
            because=because.reasons,
        )


async def _of_log(instance: Instance, row: TriggerRow) -> AsyncIterator[WhyReason]:
    events = await instance.store.triggers.list_events(row.id, max(row.seq - _LOOKED_AT, 0), _LOOKED_AT)
    skipped = [event for event in events if event.kind == "TriggerSkipped"]
    if skipped:
        text = f"Occurrences were skipped, most recently: {skipped[-1].body.decode()}"
        yield WhyReason(kind="skipped", text=text, since=Moment.of(skipped[-1].at))


async def _of_inputs(instance: Instance, row: TriggerRow) -> AsyncIterator[WhyReason]:
    triggers = instance.store.triggers
    rejected = await triggers.list_inputs(InputFilter(trigger_id=row.id, state="rejected", limit=1))
    if rejected:
        text = f"Inputs were rejected, most recently `{rejected[0].input_id}`: {rejected[0].reason}"
        yield WhyReason(kind="rejected", text=text, since=Moment.of(rejected[0].received_at))
    pending = await triggers.list_inputs(InputFilter(trigger_id=row.id, state="pending", limit=1))
    if pending:
        count = (await triggers.read_overlapping(row.id)).pending
        said = f" {pending[0].reason}" if pending[0].reason else ""
        yield WhyReason(kind="pending", text=f"{count} inputs are pending.{said}")
