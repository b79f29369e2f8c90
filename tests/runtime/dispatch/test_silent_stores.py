"""Stopping on a store that has fallen silent: it is not waited for longer than the settings say."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from layover.ports.errors import StoreUnavailable
from tests.runtime.harness import Between, Held, call, end, engine_on, flow, store_in

pytestmark = pytest.mark.usefixtures("each_database")

_ASKED = (
    "claims.claim",
    "appends.commit",
    "claims.renew",
    "claims.release",
    "queries.load",
    "outbox.read_due",
    "commands.find_unread",
    "queries.read_heads",
    "queries.find_execution",
    "close",
)


class Silent(Between):
    """A store that does not answer any more from a moment on."""

    is_silent = False

    def __getattr__(self, name: str) -> Any:
        return self._never if self.is_silent and name in _ASKED else super().__getattr__(name)

    def method(self, family: str, name: str) -> Any:
        return self._never if self.is_silent and f"{family}.{name}" in _ASKED else super().method(family, name)

    async def _never(self, *_given: object) -> None:
        await asyncio.Event().wait()


async def test_stopping_does_not_wait_for_a_silent_store(tmp_path: Path) -> None:
    store, work = Silent(tmp_path), Held()
    engine = engine_on(store, work, store_grace=50, grace=50)
    async with engine:
        await engine.workflows.register(flow(call("a"), call("b")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        store.is_silent = True
        running.returns("never written")  # the append is on its way when the engine stops
        await engine.stop()
    store.is_silent = False
    await store.close()
    other = store_in(tmp_path)
    await other.open("other")
    row = await other.queries.find_execution(started.id)
    assert row is not None
    assert row.head.owner is not None, "its lease is left to run out"
    await other.close()


async def test_stopping_raises_nothing_if_the_store_is_out_of_reach(tmp_path: Path) -> None:
    class Gone(Between):
        async def close(self) -> None:
            await self.store.close()
            raise StoreUnavailable("There is no line.")

    async with engine_on(Gone(tmp_path)) as engine:
        await engine.workflows.register(flow(end(1)))
