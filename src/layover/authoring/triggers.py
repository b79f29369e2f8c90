"""The triggers of a workflow in Python: one method for each type.

flow = Workflow("import")
flow.on_schedule("nightly", cron="30 2 * * MON-FRI", zone="Europe/Berlin")
flow.on_signal("created", "order.created", filter="trigger.data.total > 100")
flow.on_poll("mail", mailbox, with_={"folder": "INBOX"}, every="1m")
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack

from layover.authoring.errors import BadBuild
from layover.authoring.writing import to_format
from layover.core.definitions.trigger_types import source_key
from layover.nodes.source import SourceFunction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.authoring.parts import CatchUp, Duration, InputDelivery
    from layover.nodes.function import AnyFunction

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


class PollFields(TriggerFields, total=False):
    """The fields of a trigger that polls a source."""

    id: str
    with_: Mapping[str, object]
    every: Duration
    timeout: Duration


class TriggerBuilder:
    """The triggers of a workflow that is being built."""

    heading: dict[str, object]

    if TYPE_CHECKING:

        @property
        def known_functions(self) -> dict[str, AnyFunction]:
            """The functions that come with the workflow."""

    def on_schedule(self, name: str, **fields: Unpack[ScheduleFields]) -> None:
        """Start executions at times: by a `cron` line, `every` so often, or `at` single moments."""
        self._add_trigger(name, "schedule", _with_instants(fields), ScheduleFields)

    def on_signal(self, name: str, signal: str, **fields: Unpack[SignalFields]) -> None:
        """Start an execution for each signal of a name."""
        self._add_trigger(name, "signal", {"signal": signal, **fields}, SignalFields)

    def on_webhook(self, name: str, **fields: Unpack[WebhookFields]) -> None:
        """Start an execution for each delivery to `/hooks/WORKFLOW/NAME`."""
        self._add_trigger(name, "webhook", fields, WebhookFields)

    def on_poll(self, name: str, source: str | SourceFunction[..., Any], **fields: Unpack[PollFields]) -> None:
        """Ask a source for new items `every` so often, and start an execution for each."""
        named = source if isinstance(source, str) else self._source_named(source)
        self._add_trigger(name, "poll", {"source": named, **fields}, PollFields)

    def _source_named(self, source: SourceFunction[..., Any]) -> str:
        if not isinstance(source, SourceFunction):
            raise BadBuild(f"A source is a function with `@source`, or its name, not {source!r:.100}.")
        if self.known_functions.setdefault(source_key(source.name), source) is not source:
            raise BadBuild(f"Two sources are called `{source.name}`: give one another name with `@source(name=…)`.")
        return source.name

    def _add_trigger(self, name: str, kind: str, fields: Mapping[str, object], known: type) -> None:
        written = to_format(f"The trigger `{name}`", fields, {*known.__annotations__, "signal", "source"})
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
