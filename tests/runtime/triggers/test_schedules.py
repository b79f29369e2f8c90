"""Schedules start executions by themselves, each occurrence once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layover.testing import Layover

FLOW = {"name": "tick", "nodes": [{"id": "a", "type": "compute", "output": "${input}"}]}


def ticking(**fields: object) -> dict[str, object]:
    return {**FLOW, "triggers": [{"name": "often", "type": "schedule", "every": "1h", **fields}]}


async def inputs_of(layover: Layover, workflow: str = "tick") -> list[object]:
    found = [one.id async for one in layover.executions(workflow=workflow)]
    return [(await layover.execution(id_)).info.input for id_ in reversed(found)]


async def test_a_schedule_starts_an_execution_at_each_occurrence(layover: Layover) -> None:
    await layover.register(ticking(input={"at": "${trigger.at}"}))
    await layover.skip("3h")
    assert await inputs_of(layover) == [
        {"at": "2026-01-01T01:00:00.000Z"},
        {"at": "2026-01-01T02:00:00.000Z"},
        {"at": "2026-01-01T03:00:00.000Z"},
    ]


SLOW = {"name": "tick", "nodes": [{"id": "a", "type": "delay", "duration": "150m"}]}


async def statuses(layover: Layover) -> list[str]:
    found = [one.status async for one in layover.executions(workflow="tick")]
    return [str(status) for status in reversed(found)]


def slowly(**fields: object) -> dict[str, object]:
    return {**SLOW, "triggers": [{"name": "often", "type": "schedule", "every": "1h", **fields}]}


async def test_an_occurrence_is_skipped_while_the_last_execution_is_open(layover: Layover) -> None:
    await layover.register(slowly())
    await layover.skip("5h")
    assert await statuses(layover) == ["completed", "waiting"]  # of 01:00 and 04:00


async def test_overlapping_executions_are_allowed(layover: Layover) -> None:
    await layover.register(slowly(overlap="allow"))
    await layover.skip("3h")
    assert await statuses(layover) == ["waiting", "waiting", "waiting"]


async def test_occurrences_queue_behind_each_other(layover: Layover) -> None:
    await layover.register(slowly(overlap="queue"))
    await layover.skip("5h")
    assert await statuses(layover) == ["completed", "waiting", "pending", "pending", "pending"]


async def test_one_occurrence_waits_and_the_others_are_skipped(layover: Layover) -> None:
    await layover.register(slowly(overlap="queue_one"))
    await layover.skip("3h")
    assert await statuses(layover) == ["waiting", "pending"]


async def test_a_new_occurrence_cancels_the_last_execution(layover: Layover) -> None:
    await layover.register(slowly(overlap="cancel"))
    await layover.skip("3h")
    assert await statuses(layover) == ["cancelled", "cancelled", "waiting"]


async def test_the_filter_of_a_schedule_lets_occurrences_pass(layover: Layover) -> None:
    await layover.register(ticking(filter="trigger.at.contains('T02') || trigger.at.contains('T04')"))
    await layover.skip("5h")
    assert len(await inputs_of(layover)) == 2


async def test_a_schedule_ends_after_so_many_times(layover: Layover) -> None:
    await layover.register(ticking(times=2))
    await layover.skip("5h")
    assert len(await inputs_of(layover)) == 2


async def test_a_year_of_a_nightly_schedule(layover: Layover) -> None:
    nightly = {"name": "nightly", "type": "schedule", "cron": "30 2 * * *", "zone": "Europe/Berlin"}
    await layover.register({**FLOW, "triggers": [nightly]})
    await layover.skip("365d")
    assert len([one async for one in layover.executions(workflow="tick")]) == 365


async def test_an_execution_knows_its_trigger_and_its_requester(layover: Layover) -> None:
    await layover.register(ticking(data={"x": 1}, tags=["t-${trigger.name}"], priority=4, correlation_id="c"))
    await layover.skip("1h")
    (one,) = [one async for one in layover.executions(workflow="tick")]
    info = (await layover.execution(one.id)).info
    assert (info.user, info.tags, info.priority, info.correlation_id) == ("trigger:tick/often", ("t-often",), 4, "c")
    assert info.input == {"x": 1}
    assert info.trigger["id"] == "2026-01-01T01:00:00.000Z"


async def test_a_crash_at_any_point_of_a_start_leaves_one_execution(layover: Layover) -> None:
    from layover.ports.commit_points import CommitPoint  # noqa: PLC0415 - only here

    await layover.register(ticking())
    for point in (CommitPoint.CURSOR_ADVANCED, CommitPoint.INPUT_KEPT, CommitPoint.INPUT_STARTED):
        layover.crash_at(point)
        await layover.skip("1h")
        await layover.skip("2s")
    assert layover.crashes == 3
    assert len(await inputs_of(layover)) == 3


async def test_a_year_of_nights_has_one_execution_for_each(layover: Layover) -> None:
    nightly = {"name": "nightly", "type": "schedule", "cron": "30 2 * * *", "zone": "Europe/Berlin"}
    await layover.register({**FLOW, "triggers": [{**nightly, "input": {"at": "${trigger.at}"}}]})
    await layover.skip("365d")
    found = [str(one["at"]) for one in await inputs_of(layover) if isinstance(one, dict)]
    assert len({at[:10] for at in found}) == len(found) == 365
    hours = [at[11:16] for at in found]
    assert (hours.count("01:30"), hours.count("00:30"), hours.count("01:00")) == (
        154,
        210,
        1,
    )  # winter, summer with its last night, the jump
