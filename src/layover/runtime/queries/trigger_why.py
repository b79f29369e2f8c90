"""Why a trigger does not fire: what keeps it from doing so, the nearest cause first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.calendar import ZONE_DATA
from layover.core.definitions.model import DEFAULT_PENDING
from layover.core.definitions.trigger_types import ScheduleTrigger, WebhookTrigger
from layover.core.moments import Moment, moment
from layover.core.schedules import decode_cursor
from layover.model.executions import Why, WhyReason
from layover.ports.errors import StoreUnavailable
from layover.ports.trigger_records import InputFilter
from layover.runtime.triggers.planned import planned_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from layover.core.definitions.model import TriggerDefinition
    from layover.core.plan import Plan, PlannedTrigger
    from layover.model.triggers import Trigger
    from layover.ports.trigger_records import TriggerEventRow, TriggerRow
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
    events = await instance.store.triggers.list_events(row.id, max(row.seq - _LOOKED_AT, 0), _LOOKED_AT)
    if shown.state in ("paused", "stopped", "error"):
        said = f": {shown.reason}" if shown.reason else "."
        yield WhyReason(kind=shown.state, text=f"It is {shown.state}{_by_whom(row, shown, events)}{said}")
    if shown.state == "initialized":
        yield WhyReason(kind="initialized", text=shown.reason or "Its `from` is not reached.")
    if instance.settings.executions <= 0 and not await _may_have_others(instance):
        yield WhyReason(kind="no_instance", text="No instance is running that could serve it.")
    plan = await instance.plans.latest(row.workflow, instance.clock.now())
    planned = planned_of(plan, row) if plan is not None else None
    if plan is not None and planned is not None:
        async for reason in _of_secrets(instance, plan, planned):
            yield reason
        async for reason in _of_schedule(instance, queries, row, planned.trigger):
            yield reason
    for reason in (*_of_poll(row), *_of_filter(instance, row, events)):
        yield reason
    async for reason in _of_inputs(instance, row):
        yield reason
    refused = instance.webhooks.refused.get(row.id)
    if refused is not None:
        ahead = "" if refused.skew is None else f"; the clock of its sender was {refused.skew / 1000:+.0f} s off"
        text = f"The last refused delivery: {refused.reason.replace('_', ' ')}{ahead}."
        yield WhyReason(kind="refused_delivery", text=text, since=Moment.of(refused.at))
    async for reason in _of_backlog(instance, row):
        yield reason
    if row.failures:
        yield WhyReason(
            kind="back_off",
            text=f"It failed {row.failures} times in a row: {row.reason}",
            until=Moment.maybe(row.next_at),
        )


def _by_whom(row: TriggerRow, shown: Trigger, events: Sequence[TriggerEventRow]) -> str:
    """Return who has brought a trigger into its state, if that was a user; its workflow has no say in its log."""
    if shown.state != row.state:
        return ""
    changes = [event for event in events if event.kind == "TriggerStateChanged"]
    user = msgspec.json.decode(changes[-1].body).get("by") if changes else ""
    return f" by {user}" if user else ""


async def _of_secrets(instance: Instance, plan: Plan, planned: PlannedTrigger) -> AsyncIterator[WhyReason]:
    """Tell which secrets are missing here: deliveries that they sign are refused, and a source is not asked."""
    trigger = planned.trigger
    signing = [one.name for one in trigger.verify.secret] if isinstance(trigger, WebhookTrigger) else []
    for name in dict.fromkeys([*signing, *(name for _, name in planned.secrets)]):
        if name not in plan.definition.secrets:
            text = f"The workflow does not declare the secret `{name}`."
        elif not instance.secret_grants.grants(plan.definition.name, name):
            text = f"The workflow may not have the secret `{name}`: see `allow_secrets`."
        elif (await instance.secrets.find(name)).secret is None:
            text = f"The secret `{name}` is missing here."
        else:
            continue
        yield WhyReason(kind="missing_secret", text=text)


async def _may_have_others(instance: Instance) -> bool:
    """Return whether another instance may serve the trigger; who only reads a database cannot tell."""
    try:
        return bool(await instance.store.instances.list_others())
    except StoreUnavailable:
        return True


async def _of_schedule(
    instance: Instance, queries: Queries, row: TriggerRow, trigger: TriggerDefinition
) -> AsyncIterator[WhyReason]:
    if not isinstance(trigger, ScheduleTrigger):
        return
    if decode_cursor(row.cursor).zone_data > ZONE_DATA:
        yield WhyReason(kind="zone_data", text="This instance has older time zone data than the schedule.")
    if row.next_at is not None:
        yield WhyReason(kind="next", text=f"It is due at {moment(row.next_at)}.", until=Moment.of(row.next_at))
    if trigger.overlap == "allow":
        return
    for execution_id in (await instance.store.triggers.read_overlapping(row.id)).open[:1]:
        because = await queries.why(execution_id)
        yield WhyReason(
            kind="overlap",
            text=f"Its last execution is open: {because.summary}",
            execution=execution_id,
            because=because.reasons,
        )


def _of_poll(row: TriggerRow) -> Iterator[WhyReason]:
    if row.type != "poll" or row.state in ("paused", "stopped"):
        return
    if row.owner is not None:
        yield WhyReason(kind="polling", text=f"{row.owner} polls it now.", until=Moment.maybe(row.next_at))
    elif row.next_at is not None and row.state != "initialized":
        text = f"It is polled at {moment(row.next_at)}."
        yield WhyReason(kind="next", text=text, until=Moment.of(row.next_at))


def _of_filter(instance: Instance, row: TriggerRow, events: Sequence[TriggerEventRow]) -> Iterator[WhyReason]:
    """Tell what was skipped or filtered: occurrences stand in the log, deliveries and signals in the notes."""
    skipped = [event for event in events if event.kind == "TriggerSkipped"]
    if skipped:
        text = f"Occurrences were skipped, most recently: {skipped[-1].body.decode()}"
        yield WhyReason(kind="skipped", text=text, since=Moment.of(skipped[-1].at))
    filtered = instance.filtered_inputs.get(row.id)
    if filtered is not None:
        many = "1 input was" if filtered.number == 1 else f"{filtered.number} inputs were"
        text = f"{many} filtered since {moment(filtered.since)}, most recently because `{filtered.part}` is false."
        yield WhyReason(kind="filtered", text=text, since=Moment.of(filtered.at))


async def _of_inputs(instance: Instance, row: TriggerRow) -> AsyncIterator[WhyReason]:
    triggers = instance.store.triggers
    rejected = await triggers.list_inputs(InputFilter(trigger_id=row.id, state="rejected", limit=1))
    if rejected:
        text = f"Inputs were rejected, most recently `{rejected[0].input_id}`: {rejected[0].reason}"
        yield WhyReason(kind="rejected", text=text, since=Moment.of(rejected[0].received_at))


async def _of_backlog(instance: Instance, row: TriggerRow) -> AsyncIterator[WhyReason]:
    triggers = instance.store.triggers
    pending = await triggers.list_inputs(InputFilter(trigger_id=row.id, state="pending", limit=1))
    if pending:
        count = (await triggers.read_overlapping(row.id)).pending
        said = f" {pending[0].reason}" if pending[0].reason else ""
        yield WhyReason(kind="pending", text=f"{count} inputs are pending.{said}")
    most = int(msgspec.json.decode(row.config).get("max_pending", DEFAULT_PENDING))
    if row.type == "poll" and await triggers.count_pending(row.id, most) >= most:
        text = f"As many inputs are pending as `max_pending` allows ({most:,}): it is polled when some have started."
        yield WhyReason(kind="backlog", text=text)
