"""What notifications cost a step: nothing where none is asked for, and one row in its append where one is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.runtime.deliveries.post_office import Office

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

NODES = [
    {"id": "a", "type": "compute", "output": "${input}", "next": "b"},
    {"id": "b", "type": "compute", "output": "${input}"},
]
NOTIFY = [{"on": ["execution.completed"], "via": "erp"}]
FAMILIES = ("appends", "claims", "commands", "outbox", "deliveries", "queries", "signals", "limits")


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


class Counted:
    """The calls of a store, and the messages that its appends write."""

    def __init__(self, engine: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self.messages: list[str] = []
        for family in FAMILIES:
            store = getattr(engine.instance.store, family)
            for name in dir(store):
                if not name.startswith("_") and callable(getattr(store, name)) and name != "start_anew":
                    monkeypatch.setattr(store, name, self._count(f"{family}.{name}", getattr(store, name)))

    def _count(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **named: Any) -> Any:
            self.calls.append(name)
            if name.startswith("appends.commit"):
                self.messages += [message.kind for append in args[0] for message in append.messages]
            return call(*args, **named)

        return counted


async def _ended(engine: Runtime) -> None:
    started = await engine.executions.start("order", {})
    await engine.executions.wait(started.id)


async def _calls(office: Office, monkeypatch: pytest.MonkeyPatch, **definition: object) -> Counted:
    """Return what one execution asks of the store, from its start to its end."""
    async with office.engine() as engine:
        await engine.workflows.register({"name": "order", "nodes": NODES, **definition})
        await _ended(engine)
        await office.settle(engine)
        with monkeypatch.context() as patched:
            counted = Counted(engine, patched)
            await _ended(engine)
        await office.settle(engine)
    return counted


async def test_without_notify_destinations_cost_a_step_nothing(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = await _calls(office, monkeypatch)
    assert counted.messages == []
    assert [name for name in counted.calls if name.startswith(("deliveries.", "outbox."))] == []


async def test_with_notify_the_append_of_the_event_writes_one_row_more(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = await _calls(office, monkeypatch)
    told = await _calls(office, monkeypatch, notify=NOTIFY)
    assert told.messages == ["notify"]
    appends = [name for name in told.calls if name.startswith("appends.")]
    assert appends == [name for name in plain.calls if name.startswith("appends.")]
