"""What the tests of functions that record, ask and sleep have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events
from tests.runtime.harness import call, end, flow, until

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime


async def events(engine: Runtime, execution_id: str) -> list[ev.AnyEvent]:
    entries = await engine.instance.store.queries.read_history(execution_id, 0, 1_000)
    return [event for entry in entries for event in decode_events(entry.events)]


async def recorded(engine: Runtime, execution_id: str) -> dict[str, object]:
    """Return what is durable under keys."""
    found = await events(engine, execution_id)
    return {event.key: event.value for event in found if isinstance(event, ev.NodeRecorded)}


async def failure(engine: Runtime, name: str = "flow") -> dict[str, Any]:
    """Run a workflow whose node `a` fails; return its error."""
    await engine.workflows.register(flow(call("a", next={"error": "badly"}), end("${errors.a}", "badly"), name=name))
    done = await engine.executions.start(name, wait="end")
    assert isinstance(done.output, dict)
    return done.output


async def answer(engine: Runtime, execution_id: str, data: object) -> None:
    """Answer the one question that is open, once what was answered before has been heard."""
    await until(engine, execution_id, lambda head: head.status == "paused" and head.commands_done == head.commands_seq)
    (row,) = await engine.points.list(execution_id)
    await engine.answers.answer(row.point.id, data, by="ann")


class Effect:
    """Something that is done to the world, and how often."""

    def __init__(self, *values: object) -> None:
        self.count = 0
        self._values = list(values)

    def __call__(self) -> object:
        self.count += 1
        return self._values[min(self.count, len(self._values)) - 1] if self._values else self.count
