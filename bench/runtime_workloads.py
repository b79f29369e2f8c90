"""The workflows that the runtime is measured on, and how a round of one is run by the engine and by the floor."""

from __future__ import annotations

import asyncio
from math import nan
from time import perf_counter, process_time, thread_time
from typing import TYPE_CHECKING, NamedTuple

from engines import Engine
from floor import Step, steps_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from layover import Settings
    from sites import AnyFloor, Site

STEPS = 10


class Sample(NamedTuple):
    """One round: how long it took, the time of the processor that was used, and what was written."""

    seconds: float
    loop_cpu: float  # of the thread of the event loop
    process_cpu: float
    commits: int = 0
    statements: int = 0
    wal_bytes: int = 0
    server_cpu: float = 0
    hot: float = nan  # which part of the updates of heads touched no index; where it was not asked, it is not known


# What nodes do


async def work(x: int) -> dict[str, int]:
    """Return the next number."""
    return {"x": x + 1}


async def carry(x: int, text: str) -> dict[str, object]:
    """Return the next number, and the text as it is."""
    return {"x": x + 1, "text": text}


NODES = (work, carry)


# Definitions


def chain(size: int = STEPS) -> dict[str, object]:
    """Return calls that follow one another, each with what the one before gave."""
    return _chain("chain", "work", size, {"x": "x"})


def carrying() -> dict[str, object]:
    """Return the same, in which a text goes in and out of each call."""
    return _chain("carrying", "carry", STEPS, {"x": "x", "text": "text"})


def _chain(name: str, kind: str, size: int, fields: Mapping[str, str]) -> dict[str, object]:
    nodes: list[dict[str, object]] = []
    for number in range(size):
        source = "input" if number == 0 else f"nodes.n{number - 1}"
        given = {field: f"${{{source}.{path}}}" for field, path in fields.items()}
        following = {"next": f"n{number + 1}"} if number + 1 < size else {}
        nodes.append({"id": f"n{number}", "type": kind, "input": given, **following})
    return {"name": name, "nodes": nodes}


def fan_out(size: int = 100) -> dict[str, object]:
    """Return calls that are all out at once, between a first node and a last."""
    names = [f"n{number}" for number in range(size)]
    calls = [{"id": name, "type": "work", "input": {"x": "${input.x}"}, "next": "last"} for name in names]
    first = {"id": "first", "type": "compute", "output": 1, "next": names}
    return {"name": "fan_out", "nodes": [first, *calls, {"id": "last", "type": "compute", "output": "${input.x}"}]}


def question() -> dict[str, object]:
    """Return a form whose answer is the end."""
    return {"name": "question", "nodes": [{"id": "ask", "type": "form", "title": "How many?"}]}


def question_and_call() -> dict[str, object]:
    """Return a form, and a call with what was answered."""
    ask = {"id": "ask", "type": "form", "title": "How many?", "next": "then"}
    then = {"id": "then", "type": "work", "input": {"x": "${nodes.ask.x}"}}
    return {"name": "question_and_call", "nodes": [ask, then]}


def timer(duration: str) -> dict[str, object]:
    """Return a delay, and a call after it."""
    wait = {"id": "wait", "type": "delay", "duration": duration, "next": "then"}
    return {"name": "timer", "nodes": [wait, {"id": "then", "type": "work", "input": {"x": "${input.x}"}}]}


# Rounds


def engine_at(address: str, settings: Settings | None = None) -> Engine:
    """Return an engine on a database, not yet open."""
    return Engine(address, nodes=NODES, settings=settings)


async def recorded(site: Site, definition: Mapping[str, object], given: object) -> list[Step]:
    """Return what one execution appends, as the engine does it."""
    async with site.empty() as address, engine_at(address) as engine:
        await engine.register(definition)
        ended = await engine.start(str(definition["name"]), given, until="end")
        assert ended.status == "completed", ended
        return steps_of(await engine.instance.store.queries.read_history(ended.id, 0, ended.last_seq + 1))


async def engine_round(
    site: Site, definition: Mapping[str, object], given: object, executions: int, at_once: int, nodes: int
) -> Sample:
    """Run executions by the engine, so many at once, until a reader finds all of them completed."""
    name = str(definition["name"])
    async with site.empty() as address:
        async with engine_at(address) as engine:
            await engine.register(definition)
            await many(lambda: engine.start(name, given, until="end"), at_once, at_once)
            store = engine.instance.store
            ids: list[str] = []

            async def one() -> None:
                ids.append((await engine.start(name, given, until="end")).id)

            async def until_readable() -> None:
                await many(one, executions, at_once)
                assert await store.queries.count_by_status() == {"completed": executions + at_once}

            sample = await counted(site, engine, until_readable)
            for id_ in ids[:: max(1, executions // 10)]:
                await verify(engine, id_, nodes)
        return sample._replace(hot=await site.hot(address))


async def floor_round(site: Site, steps: list[Step], executions: int, at_once: int) -> Sample:
    """Write the same executions without an engine."""
    async with site.empty() as address:
        async with site.floor(address) as floor:
            await many(lambda: floor.execute(steps), at_once, at_once)
            sample = await counted(site, floor, lambda: many(lambda: floor.execute(steps), executions, at_once))
        return sample._replace(hot=await site.hot(address))


async def many(one: Callable[[], Awaitable[object]], times: int, at_once: int) -> None:
    """Do something many times, so many at once."""
    left = iter(range(times))

    async def worker() -> None:
        for _ in left:
            await one()

    async with asyncio.TaskGroup() as group:
        for _ in range(min(at_once, times)):
            group.create_task(worker())


async def timed(what: Callable[[], Awaitable[object]]) -> Sample:
    """Measure something that is awaited."""
    loop_cpu, process_cpu, started = thread_time(), process_time(), perf_counter()
    await what()
    return Sample(perf_counter() - started, thread_time() - loop_cpu, process_time() - process_cpu)


async def counted(site: Site, doer: Engine | AnyFloor, what: Callable[[], Awaitable[object]]) -> Sample:
    """Measure something that an engine or a floor does, and what was written meanwhile."""
    before = await site.counts(doer)
    sample = await timed(what)
    after = await site.counts(doer)
    return sample._replace(
        commits=after.commits - before.commits,
        statements=after.statements - before.statements,
        wal_bytes=after.wal_bytes - before.wal_bytes,
        server_cpu=after.server_cpu - before.server_cpu,
    )


async def verify(engine: Engine, execution_id: str, nodes: int) -> None:
    """Make sure that what a reader can ask for is there."""
    execution = await engine.execution(execution_id)
    assert execution.status == "completed"
    assert execution.output is not None
    assert await engine.node_statuses(execution) == ["completed"] * nodes
    assert [one.seq for one in await engine.history(execution_id)] == list(range(execution.last_seq + 1))


async def all_completed(engine: Engine, executions: int, between_looks: float) -> None:
    """Return once a reader finds all executions completed."""
    while await engine.counts() != {"completed": executions}:  # noqa: ASYNC110 - readers have to look
        await asyncio.sleep(between_looks)
