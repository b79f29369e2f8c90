"""Polls of several instances in real time, and sources that do not return."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover import Batch, Item, source
from layover.bootstrap import open_runtime
from layover.core.ids import trigger_id
from layover.runtime.settings import RuntimeSettings
from tests.runtime.harness import address_in

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path

    from layover.ports.trigger_records import TriggerRow
    from layover.runtime.runtime import Runtime

LONGEST = 60  # seconds that anything here may take on a busy machine
MAIL = trigger_id("post", "mail")

pytestmark = pytest.mark.usefixtures("each_database")


def flow(**fields: Any) -> dict[str, Any]:
    trigger = {"name": "mail", "type": "poll", "source": "mailbox", "timeout": "1h", **fields}
    return {"name": "post", "nodes": [{"id": "a", "type": "end"}], "triggers": [trigger]}


def engine(folder: Path, *sources: Any, **settings: int) -> Runtime:
    chosen = msgspec.convert({"poll": 20, "grace": 0, **settings}, RuntimeSettings)
    return open_runtime(address_in(folder), nodes=sources, settings=chosen)


async def row_of(runtime: Runtime) -> TriggerRow:
    row = await runtime.instance.store.triggers.find(MAIL)
    assert row is not None
    return row


async def until(look: Callable[[], Awaitable[bool]]) -> None:
    """Look until something is so."""
    async with asyncio.timeout(LONGEST):
        while not await look():
            pass


async def test_an_instance_that_stops_leaves_its_poll_to_another(tmp_path: Path) -> None:
    asked = asyncio.Event()

    @source(name="mailbox")
    async def endless(cursor: str | None) -> Batch:  # noqa: ARG001 - as sources are called
        asked.set()
        await asyncio.Event().wait()
        return Batch()

    @source(name="mailbox")
    def prompt(cursor: str | None) -> Batch:  # noqa: ARG001 - the same
        return Batch([Item("a", 1)], cursor="1")

    async with engine(tmp_path, endless) as first, asyncio.timeout(LONGEST):
        await first.workflows.register(flow())
        await asked.wait()
        leased = await row_of(first)
        assert (leased.owner, leased.epoch) == (first.instance.id, 1)
        await first.stop()
    async with engine(tmp_path, prompt) as second:

        async def is_polled() -> bool:
            return (await row_of(second)).cursor == b'"1"'

        await until(is_polled)
        assert (await row_of(second)).epoch == 2


async def test_an_instance_without_the_source_leaves_it_to_another(tmp_path: Path) -> None:
    @source
    def mailbox(cursor: str | None) -> Batch:
        n = int(cursor or 0) + 1
        return Batch([Item(str(n), n)], cursor=str(n), more=n < 20)

    async with engine(tmp_path) as without, engine(tmp_path, mailbox) as having:
        await having.workflows.register(flow())
        without.instance.trigger_runner.hint()

        async def is_polled() -> bool:
            without.instance.trigger_runner.hint()
            return (await row_of(having)).cursor == b'"20"'

        await until(is_polled)
        row = await row_of(without)
        assert (row.state, row.reason) == ("active", "")
        events = await without.instance.store.triggers.list_events(MAIL, 0, 1_000)
        assert "TriggerStateChanged" not in {event.kind for event in events}


def _sources(over: threading.Event, stirred: asyncio.Event) -> Iterable[Any]:
    @source(name="mailbox")
    async def sleeping(cursor: str | None) -> Batch:  # noqa: ARG001 - as sources are called
        await asyncio.Event().wait()
        return Batch()

    @source(name="mailbox")
    def blocking(cursor: str | None) -> Batch:  # noqa: ARG001 - the same
        over.wait(LONGEST)
        return Batch([Item("too late", 1)], cursor="1")

    @source(name="mailbox")
    async def stubborn(cursor: str | None) -> Batch:  # noqa: ARG001 - the same
        while not stirred.is_set():
            try:
                await stirred.wait()
            except asyncio.CancelledError:
                continue
        return Batch([Item("too late", 1)], cursor="1")

    return sleeping, blocking, stubborn


@pytest.mark.parametrize("n", range(3), ids=["sleeping", "blocking", "stubborn"])
async def test_a_source_that_does_not_return_in_time_has_failed(tmp_path: Path, n: int) -> None:
    over, stirred = threading.Event(), asyncio.Event()
    mailbox = list(_sources(over, stirred))[n]
    async with engine(tmp_path, mailbox) as runtime:
        await runtime.workflows.register(flow(timeout="1s"))

        async def has_failed() -> bool:
            return (await row_of(runtime)).failures > 0

        try:
            await until(has_failed)
            row = await row_of(runtime)
            assert row.reason == "The source `mailbox` did not return within 1 s."
            over.set()
            stirred.set()
            assert (await row_of(runtime)).cursor == b""
        finally:
            over.set()
            stirred.set()
