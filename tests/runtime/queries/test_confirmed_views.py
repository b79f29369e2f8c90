"""What a caller is told of an execution is what the store has confirmed, never a state that is ahead of the log."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

import pytest

from tests.runtime.harness import Between, Held, call, engine_on, flow, until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.ports.records import Append, Message, Outcome

pytestmark = pytest.mark.usefixtures("each_database")


class Slow(Between):
    """A store that holds what ends an execution until the test lets it go."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.go = asyncio.Event()
        self.held = asyncio.Event()

    @contextmanager
    def until_left(self) -> Iterator[None]:
        try:
            yield
        finally:
            self.go.set()

    async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
        ends, begins = any(one.closed is not None for one in appends), any(one.new is not None for one in appends)
        if ends and not begins:
            self.held.set()
            await self.go.wait()
        return await self.store.appends.commit(appends)


class SlowToAdmit(Slow):
    """A store that is not done with an admission before the end of the execution is on its way."""

    async def sent(self, messages: Sequence[Message]) -> None:
        await self.store.outbox.delete_delivered(messages)
        await self.held.wait()


async def unique() -> str:
    """Return what no other call returns."""
    return str(uuid4())


@pytest.mark.parametrize("durability", ["step", "leg"])
async def test_started_executions_are_returned_as_their_first_append_made_them(tmp_path: Path, durability: str) -> None:
    store = Slow(tmp_path)
    async with engine_on(store, unique) as engine:
        with store.until_left():
            await engine.workflows.register(flow(call("a", "unique"), settings={"durability": durability}))
            await engine.workflows.plan_of("flow")  # it is known now, so the creations go together
            told = await asyncio.gather(*(engine.executions.start("flow") for _ in range(20)))
            await store.held.wait()
            assert {(one.status, one.output, one.finished_at, one.nodes_executed) for one in told} == {
                ("running", None, None, 0)
            }


@pytest.mark.parametrize("wait", [None, "end"])
async def test_an_admitted_execution_is_returned_as_it_was_written(tmp_path: Path, wait: Literal["end"] | None) -> None:
    store = SlowToAdmit(tmp_path)
    async with engine_on(store, unique) as engine:
        with store.until_left():
            await engine.workflows.register(flow(call("a", "unique"), settings={"concurrency": {"limit": 1}}))
            starting = asyncio.ensure_future(engine.executions.start("flow", wait=wait))
            await store.held.wait()
            told = await starting if wait is None else None
            for _ in range(100):  # as long as it is not durable that it has ended, nobody is told so
                await asyncio.sleep(0)
                assert wait is None or not starting.done()
        ended = await engine.executions.wait((told or await starting).id)
        assert told is None or (told.status, told.output) != ("completed", ended.output)
        assert wait is None or (await starting).output == ended.output


async def test_an_end_that_was_not_written_before_the_lease_was_lost_is_not_returned(tmp_path: Path) -> None:
    store, work = Slow(tmp_path), Held()
    async with engine_on(store, work) as engine:
        with store.until_left():
            await engine.workflows.register(flow(call("a")))
            starting = asyncio.ensure_future(engine.executions.start("flow", wait="end"))
            (await work.begun()).returns("never written")
            await store.held.wait()
            (driven,) = engine.instance.driver.active.values()
            await store.store.claims.release(engine.instance.id, [driven.lease], 0)
            driven.drop()
        (await work.begun()).returns("written")
        assert (await starting).output == "written"


async def test_an_execution_whose_outcome_cannot_be_taken_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Held()
    async with engine_on(Between(tmp_path), work) as engine:
        await engine.workflows.register(flow(call("a"), call("b")))
        started = await engine.executions.start("flow")

        def fails(*_given: object) -> None:
            raise MemoryError

        running = await work.begun()
        monkeypatch.setattr(engine.instance.metrics, "wrote", fails)
        running.returns("well")
        head = await until(engine, started.id, lambda head: head.owner is None)
        assert head.last_seq > started.last_seq
