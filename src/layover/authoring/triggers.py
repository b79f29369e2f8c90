"""The triggers of a workflow in Python: one method for each type.

flow = Workflow("import")
flow.on_schedule("nightly", cron="30 2 * * MON-FRI", zone="Europe/Berlin")
flow.on_signal("created", "order.created", filter="trigger.data.total > 100")
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, Unpack

from layover.authoring.writing import to_format

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.authoring.parts import CatchUp, Duration, InputDelivery

Instant: TypeAlias = str | date  # `2027-01-31T08:00`, a date or a datetime


class TriggerFields(TypedDict, total=False):
    """The fields of every trigger."""

    description: str
    filter: str
    input: object
    tags: Sequence[str]
    priority: int | str
    correlation_id: str
    dedup: Duration
    max_pending: int
    deliver: InputDelivery | Mapping[str, object]
    extra: Mapping[str, object]


class ScheduleFields(TriggerFields, total=False):
    """The fields of a schedule."""

    cron: str
    every: Duration
    at: Sequence[Instant]
    zone: str
    from_: Instant
    until: Instant
    times: int
    jitter: Duration
    overlap: Literal["skip", "queue_one", "queue", "cancel", "allow"]
    catch_up: CatchUp | Mapping[str, object]
    data: Mapping[str, object]


class SignalFields(TriggerFields, total=False):
    """The fields of a trigger that signals fire."""

    id: str
    when: Literal["always", "unmatched"]


class WebhookFields(TriggerFields, total=False):
    """The fields of a webhook."""

    id: str
    verify: Mapping[str, object]
    respond: Literal["accepted", "result", "pause"]


class TriggerBuilder:
    """The triggers of a workflow that is being built."""

    heading: dict[str, object]

    def on_schedule(self, name: str, **fields: Unpack[ScheduleFields]) -> None:
        """Start executions at times: by a `cron` line, `every` so often, or `at` single moments."""
        self._add_trigger(name, "schedule", _with_instants(fields), ScheduleFields)

    def on_signal(self, name: str, signal: str, **fields: Unpack[SignalFields]) -> None:
        """Start an execution for each signal of a name."""
        self._add_trigger(name, "signal", {"signal": signal, **fields}, SignalFields)

    def on_webhook(self, name: str, **fields: Unpack[WebhookFields]) -> None:
        """Start an execution for each delivery to `/hooks/WORKFLOW/NAME`."""
        self._add_trigger(name, "webhook", fields, WebhookFields)

    def _add_trigger(self, name: str, kind: str, fields: Mapping[str, object], known: type) -> None:
        written = to_format(f"The trigger `{name}`", fields, {*known.__annotations__, "signal"})
        triggers = self.heading.setdefault("triggers", [])
        if isinstance(triggers, list):
            triggers.append({"name": name, "type": kind, **written})


def _with_instants(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields with dates and times as the format writes them."""
    return {name: _instants(value) for name, value in fields.items()}


def _instants(value: object) -> object:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [_instants(one) for one in value]
    return value
