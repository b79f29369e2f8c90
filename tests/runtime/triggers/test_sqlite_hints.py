"""On SQLite, too, an instance serves what another process registers or resumes without polling for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover import Engine
from layover.ports.hints import Hint
from layover.stores.sqlite import SqliteStore
from tests.runtime.harness import HOUR, address_in, end, engine_at, flow
from tests.stores.conformance import creation, uid

if TYPE_CHECKING:
    from pathlib import Path

    from layover.runtime.runtime import Runtime

# So that nothing but a hint can explain that an instance does something.
SILENT = {"poll": HOUR, "command_poll": HOUR, "outbox_poll": HOUR, "lease_ttl": HOUR}
OFTEN = {"name": "often", "type": "schedule", "every": "1s", "times": 1}


async def served(serving: Runtime) -> object:
    """Return the result of what a trigger has started."""
    while not (found := await serving.lists.list(workflow="flow")):
        pass
    return await serving.executions.result(found[0].head.execution_id)


async def test_a_trigger_that_another_registers_is_served(tmp_path: Path) -> None:
    async with engine_at(tmp_path, **SILENT) as serving, Engine(address_in(tmp_path), drive=False) as registering:
        await registering.register(flow(end("done"), triggers=[OFTEN]))
        assert await served(serving) == "done"


async def test_a_trigger_that_another_resumes_is_served(tmp_path: Path) -> None:
    async with engine_at(tmp_path, **SILENT) as serving, Engine(address_in(tmp_path), drive=False) as operator:
        await operator.register(flow(end("done"), triggers=[{**OFTEN, "from": "2999-01-01T00:00:00Z"}]))
        trigger = await operator.trigger("flow/often")
        await trigger.pause("not yet")
        await operator.register(flow(end("done"), triggers=[OFTEN]))
        await trigger.resume()
        assert await served(serving) == "done"


async def test_an_instance_that_follows_hears_which_executions_others_append_to(tmp_path: Path) -> None:
    watching, other = (SqliteStore(tmp_path / "layover.db") for _ in range(2))
    await watching.open("i1")
    await other.open("i2")
    heard: list[str] = []
    await other.definitions.save("order", "h1", b"{}", 1, None, ())
    await other.appends.commit([creation(1)])
    watching.tell(Hint(kind="follow"))
    watching.listen(lambda hint: heard.append(hint.execution_id) if hint.kind == "change" else None)
    n = 1
    while not heard:
        n += 1
        await other.appends.commit([creation(n)])
    await watching.close()
    await other.close()
    assert uid(1) not in heard
    assert set(heard) <= {uid(one) for one in range(2, n + 1)}


async def test_each_change_by_another_is_a_hint_until_the_store_is_closed(tmp_path: Path) -> None:
    watching, other = (SqliteStore(tmp_path / "layover.db") for _ in range(2))
    await watching.open("i1")
    await other.open("i2")
    heard, told = list[Hint](), asyncio.Event()

    def hear(hint: Hint) -> None:
        heard.append(hint)
        told.set()

    watching.listen(hear)
    for number in range(3):
        await told.wait()
        told.clear()
        await other.definitions.save("order", f"h{number}", b"{}", number, None, ())
    await told.wait()
    assert {hint.kind for hint in heard} == {"trigger"}
    await watching.close()
    count = len(heard)
    await other.definitions.save("order", "last", b"{}", 4, None, ())
    await other.close()
    assert len(heard) == count
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "sqlite hints"]
