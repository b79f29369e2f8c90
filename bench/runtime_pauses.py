"""Executions that rest: pauses and resumes per second, how long a resume takes, and how late timers are.

A resume is counted from the call of `answer` until the execution has gone on durably to its end.
"""

from __future__ import annotations

import asyncio
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from floor import Asked, Lease, now, steps_of
from layover.core.engine import commands as cmd
from layover.core.engine.command_codec import encode_command
from layover.ports.records import CLOSED
from layover.ports.view_records import PointFilter
from layover.runtime.ids import new_id
from runtime_figures import Figure, costs, in_turn, percentile
from runtime_workloads import (
    Sample,
    all_completed,
    counted,
    engine_at,
    many,
    question,
    question_and_call,
    timer,
    verify,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engines import Engine
    from floor import Id, Step
    from measure import Size
    from runtime_figures import Measure
    from sites import Site

MANY = 1_000
ROUNDS = 5
PAUSES_AT_ONCE, ANSWERS_AT_ONCE = 100, 50
ANSWER = {"x": 1}
LEAST_PAUSES, LEAST_RESUMES, MOST_RESUME_MS, MOST_LATENESS_MS = 5_000, 4_000, 10, 50
DURATION_MS = 2_000
ANSWERED_ONCE = Lease(epoch=2, seen=1)
CLAIMED_ONCE = Lease(epoch=2)


class Round(NamedTuple):
    pauses: Sample
    resumes: Sample
    latencies: list[float]


# Questions


async def asked_of(site: Site, definition: Mapping[str, object]) -> tuple[list[Step], Asked]:
    """Return what the engine writes for one execution that asks, as the floor needs it."""
    async with site.empty() as address, engine_at(address) as engine:
        store = engine.instance.store
        await engine.register(definition)
        paused = await engine.start(str(definition["name"]), until="rest")
        (opened,) = await store.queries.list_points(PointFilter(execution_id=paused.id))
        await engine.answer(opened.point.id, ANSWER)
        ended = await engine.wait(paused.id)
        (answered,) = await store.queries.list_points(PointFilter(execution_id=paused.id))
        _, command = encode_command(cmd.Answer(point=opened.point.id, by="ann", data=ANSWER))
        asked = Asked(
            kind=opened.point.kind,
            opened=msgspec.json.encode(opened.point),
            answered=msgspec.json.encode(answered.point),
            command=command,
            wait=None if opened.point.deadline is None else opened.point.deadline - opened.point.opened_at,
        )
        return steps_of(await store.queries.read_history(paused.id, 0, ended.last_seq + 1)), asked


async def _engine_round(site: Site, definition: Mapping[str, object], size: int, nodes: int) -> Round:
    name = str(definition["name"])
    async with site.empty() as address:
        async with engine_at(address) as engine:
            await engine.register(definition)
            counts = engine.instance.store.queries.count_by_status
            points: list[tuple[str, str]] = []
            latencies: list[float] = []

            async def pause() -> None:
                paused = await engine.start(name, until="rest")
                points.append((paused.id, paused.waiting_on[0].point))

            async def resume() -> None:
                execution_id, point = next(left)
                started = perf_counter()
                await engine.answer(point, ANSWER)
                await engine.instance.listeners.until(execution_id, lambda head: head.status in CLOSED)
                latencies.append(perf_counter() - started)

            pauses = await counted(site, engine, partial(many, pause, size, PAUSES_AT_ONCE))
            assert await counts() == {"paused": size}
            left = iter(points)
            resumes = await counted(site, engine, partial(many, resume, size, ANSWERS_AT_ONCE))
            assert await counts() == {"completed": size}
            for execution_id, _ in points[:: max(1, size // 10)]:
                await verify(engine, execution_id, nodes)
        return Round(pauses, resumes._replace(hot=await site.hot(address)), latencies)


async def floor_round_of(site: Site, steps: list[Step], asked: Asked, size: int) -> Round:
    async with site.empty() as address:
        async with site.floor(address) as floor:
            points: list[tuple[Id, str]] = []
            latencies: list[float] = []

            async def pause() -> None:
                id_, point = floor.new_id(), new_id(now())
                await floor.ask(id_, steps[0], point, asked)
                points.append((id_, point))

            async def resume() -> None:
                id_, point = next(left)
                started = perf_counter()
                await floor.answer(id_, steps[0], point, asked)
                closing = len(steps) == 2
                await floor.append(id_, len(steps[0].events) - 1, steps[1], ANSWERED_ONCE, closing=closing, point=point)
                await floor.go_on(id_, steps, 2, ANSWERED_ONCE)
                latencies.append(perf_counter() - started)

            pauses = await counted(site, floor, partial(many, pause, size, PAUSES_AT_ONCE))
            left = iter(points)
            resumes = await counted(site, floor, partial(many, resume, size, ANSWERS_AT_ONCE))
        return Round(pauses, resumes._replace(hot=await site.hot(address)), latencies)


async def _measure(name: str, definition: Mapping[str, object], nodes: int, site: Site, size: Size) -> list[Figure]:
    count = size.of(MANY, quick=MANY // 4, small=10)
    steps, asked = await asked_of(site, definition)
    ours: list[Round] = []
    floor: list[Round] = []

    async def our_round() -> Sample:
        ours.append(await _engine_round(site, definition, count, nodes))
        return ours[-1].resumes

    async def floor_round() -> Sample:
        floor.append(await floor_round_of(site, steps, asked, count))
        return floor[-1].resumes

    resumes, bare_resumes = await in_turn(size.of(ROUNDS, quick=3, small=1), our_round, floor_round)
    pauses = sorted((one.pauses for one in ours), key=lambda one: one.seconds)[len(ours) // 2]
    bare_pauses = sorted((one.pauses for one in floor), key=lambda one: one.seconds)[len(floor) // 2]
    p50, p99 = (percentile([one for a in ours for one in a.latencies], percent) * 1e3 for percent in (50, 99))
    f50, f99 = (percentile([one for a in floor for one in a.latencies], percent) * 1e3 for percent in (50, 99))
    return [
        _rate(f"pauses: {name}", count, pauses, bare_pauses, LEAST_PAUSES),
        *costs(count, pauses, bare_pauses),
        _rate(f"resumes: {name}", count, resumes, bare_resumes, LEAST_RESUMES),
        Figure(
            name=f"  p50 / p99 with {ANSWERS_AT_ONCE} at once",
            value=f"{p50:.1f} / {p99:.1f} ms",
            floor=f"{f50:.1f} / {f99:.1f}",
            aim=f"p50 ≤ {MOST_RESUME_MS} ms",
            met=p50 <= MOST_RESUME_MS,
        ),
        *costs(count, resumes, bare_resumes),
    ]


def _rate(name: str, size: int, ours: Sample, floor: Sample, least: int) -> Figure:
    return Figure(
        name=name,
        value=f"{size / ours.seconds:,.0f}/s",
        floor=f"{size / floor.seconds:,.0f}",
        ratio=f"{floor.seconds / ours.seconds:.0%}",
        loop_cpu=f"{ours.loop_cpu / size * 1e6:.0f} ({floor.loop_cpu / size * 1e6:.0f})",
        aim=f"≥ {least:,}/s",
        met=size / ours.seconds >= least,
    )


# Timers


async def _timers(site: Site, size: Size) -> list[Figure]:
    lateness: list[float] = []
    bare: list[float] = []
    count, duration_ms = size.of((MANY, DURATION_MS), quick=(MANY, DURATION_MS), small=(10, 100))
    for turn in range(size.of(3, quick=1, small=1)):
        lateness += await _engine_timers(site, count, duration_ms)
        bare += await _floor_timers(site, count, duration_ms)
        print(f"  round {turn + 1}: {percentile(lateness, 99):.0f} ms, floor {percentile(bare, 99):.0f} ms", flush=True)
    p50, p99 = percentile(lateness, 50), percentile(lateness, 99)
    return [
        Figure(
            name=f"{count:,} timers of {duration_ms} ms: lateness p50 / p99",
            value=f"{p50:.0f} / {p99:.0f} ms",
            floor=f"{percentile(bare, 50):.0f} / {percentile(bare, 99):.0f}",
            aim=f"p99 ≤ {MOST_LATENESS_MS} ms",
            met=p99 <= MOST_LATENESS_MS,
        )
    ]


async def _engine_timers(site: Site, size: int, duration_ms: int) -> list[float]:
    """Return by how many milliseconds each node after a timer was started too late, as its log tells."""
    async with site.empty() as address, engine_at(address) as engine:
        await engine.register(timer(f"{duration_ms}ms"))
        ids: list[str] = []

        async def one() -> None:
            ids.append((await engine.start("timer", ANSWER, until="rest")).id)

        await many(one, size, PAUSES_AT_ONCE)
        await all_completed(engine, size, 0.2)
        for id_ in ids[:: max(1, size // 10)]:
            await verify(engine, id_, 2)
        return [await _lateness(engine, id_) for id_ in ids]


async def _lateness(engine: Engine, execution_id: str) -> float:
    due = 0
    for one in await engine.history(execution_id):
        if one.type == "PausePointOpened":
            due = one.deadline or 0
        elif one.type == "NodeStarted":
            return one.at - due
    raise AssertionError("the node after the timer was never started")


async def _floor_timers(site: Site, size: int, duration_ms: int) -> list[float]:
    """Do the same with a sleeping task for each timer."""
    steps, asked = await _timed_steps(site, duration_ms)
    lateness: list[float] = []
    async with site.empty() as address, site.floor(address) as floor:

        async def one(id_: Id, due: int) -> None:
            await asyncio.sleep((due - now()) / 1000)
            await floor.claim(id_)
            lateness.append(now() - due)
            await floor.append(id_, len(steps[0].events) - 1, steps[1], CLAIMED_ONCE)
            await floor.go_on(id_, steps, 2, CLAIMED_ONCE)

        async with asyncio.TaskGroup() as group:

            async def begin() -> None:
                id_, due = floor.new_id(), now() + duration_ms
                await floor.ask(id_, steps[0], new_id(now()), asked)
                group.create_task(one(id_, due))

            await many(begin, size, PAUSES_AT_ONCE)
    return lateness


async def _timed_steps(site: Site, duration_ms: int) -> tuple[list[Step], Asked]:
    async with site.empty() as address, engine_at(address) as engine:
        await engine.register(timer("1ms"))
        ended = await engine.start("timer", ANSWER, until="end")
        (row,) = await engine.instance.store.queries.list_points(PointFilter(execution_id=ended.id))
        body = msgspec.json.encode(row.point)
        steps = steps_of(await engine.instance.store.queries.read_history(ended.id, 0, ended.last_seq + 1))
        return steps, Asked(row.point.kind, body, body, b"", duration_ms)


MEASURES: dict[str, Measure] = {
    "pauses": partial(_measure, "a form", question(), 1),
    "pauses_and_calls": partial(_measure, "a form and a call", question_and_call(), 2),
    "timers": _timers,
}
