"""How often a delivery asks the store for its webhook, and what that may miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from layover.runtime.runtime import Runtime
from tests.api.harness import UNLIMITED, listening
from tests.runtime.harness import Between, settings_with

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from layover.ports.store import Store
    from layover.ports.trigger_records import TriggerRow


def flow(**fields: Any) -> dict[str, Any]:
    trigger = {"name": "paid", "type": "webhook", "verify": {"scheme": "none"}, **fields}
    return {"name": "shop", "nodes": [{"id": "a", "type": "end"}], "triggers": [trigger]}


class Counting(Between):
    """A store that counts how often a trigger is looked up, and lets something happen after the first time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.lookups = 0
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def triggers_find(self, trigger_id: str) -> TriggerRow | None:
        self.lookups += 1
        found = await self.store.triggers.find(trigger_id)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return found


async def test_a_delivery_looks_its_webhook_up_once(tmp_path: Path) -> None:
    store = Counting(tmp_path)
    async with (
        Runtime(cast("Store", store), settings=settings_with()) as engine,
        listening(engine, settings=UNLIMITED) as api,
    ):
        await engine.workflows.register(flow())
        store.lookups = 0
        assert (await api.ask("POST", "/hooks/shop/paid", {"n": 1}, as_="")).status == 202
        assert store.lookups == 1


async def test_a_version_that_is_registered_while_a_delivery_comes_in_takes_it(tmp_path: Path) -> None:
    store = Counting(tmp_path)
    async with (
        Runtime(cast("Store", store), settings=settings_with()) as engine,
        listening(engine, settings=UNLIMITED) as api,
    ):
        await engine.workflows.register(flow())
        store.meanwhile = lambda: engine.workflows.register(flow(respond="result"))
        answered = await api.ask("POST", "/hooks/shop/paid", {"n": 1}, as_="")
        assert (answered.status, answered.json) == (200, None)
