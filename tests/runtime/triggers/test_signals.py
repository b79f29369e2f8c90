"""Signals that start executions, and inputs that are delivered as signals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.ports.commit_points import CommitPoint

if TYPE_CHECKING:
    from layover.testing import Layover

NODES = [{"id": "a", "type": "compute", "output": "${input}"}]


def flow(**fields: Any) -> dict[str, Any]:
    trigger = {"name": "created", "type": "signal", "signal": "order.created", **fields}
    return {"name": "order", "nodes": NODES, "triggers": [trigger]}


async def inputs(layover: Layover) -> list[object]:
    ids = [one.id async for one in layover.executions(workflow="order")]
    return sorted([(await layover.execution(id_)).info.input for id_ in ids], key=str)  # of one moment in any order


async def test_a_signal_starts_an_execution_once(layover: Layover) -> None:
    await layover.register(flow())
    await layover.signal("order.created", {"n": 1}, id="s1")
    await layover.signal("order.created", {"n": 1}, id="s1")
    await layover.signal("order.other", {"n": 2})
    assert await inputs(layover) == [{"n": 1}]


async def test_a_filter_decides_which_signals_start(layover: Layover) -> None:
    await layover.register(flow(filter="trigger.data.n > 1"))
    for n in range(4):
        await layover.signal("order.created", {"n": n})
    assert await inputs(layover) == [{"n": 2}, {"n": 3}]
    assert len(await (await layover.trigger("order/created")).inputs().all()) == 2


async def test_an_id_of_its_own_makes_signals_one_input(layover: Layover) -> None:
    await layover.register(flow(id="${trigger.data.order}"))
    for id_ in ("s1", "s2"):
        await layover.signal("order.created", {"order": "o-1"}, id=id_)
    assert await inputs(layover) == [{"order": "o-1"}]


async def test_a_filter_that_fails_is_a_rejected_input(layover: Layover) -> None:
    await layover.register(flow(filter="trigger.data.n > 1"))
    await layover.signal("order.created", {})
    (one,) = await (await layover.trigger("order/created")).inputs().all()
    assert one.state == "rejected"


async def test_unmatched_starts_only_what_nobody_waited_for(layover: Layover) -> None:
    await layover.register({"name": "wait", "nodes": [{"id": "w", "type": "wait_signal", "signal": "order.created"}]})
    await layover.register(flow(when="unmatched"))
    await layover.start("wait")
    await layover.signal("order.created", {"n": 1})
    await layover.signal("order.created", {"n": 2})
    assert await inputs(layover) == [{"n": 2}]


async def test_signals_wait_while_the_trigger_is_paused(layover: Layover) -> None:
    await layover.register(flow())
    trigger = await layover.trigger("order/created")
    await trigger.pause()
    await layover.signal("order.created", {"n": 1})
    await layover.skip("1h")
    assert (await inputs(layover), [one.state async for one in trigger.inputs()]) == ([], ["pending"])
    await trigger.resume()
    assert await inputs(layover) == [{"n": 1}]


async def test_an_input_is_delivered_to_an_execution_that_waits(layover: Layover) -> None:
    waiting = {"id": "w", "type": "wait_signal", "signal": "tick", "key": "k-1"}
    nightly = {"name": "t", "type": "schedule", "every": "1h", "data": {"k": "1"}}
    deliver = {"signal": "tick", "key": "k-${trigger.data.k}"}
    await layover.register({"name": "long", "nodes": [waiting], "triggers": [{**nightly, "deliver": deliver}]})
    execution = await layover.start("long")
    await layover.skip("1h")
    assert (await execution.refresh()).status == "completed"
    (one,) = await (await layover.trigger("long/t")).inputs().all()
    assert one.state == "delivered"


async def test_a_crash_on_the_way_starts_one_execution(layover: Layover) -> None:
    await layover.register(flow())
    for n, point in enumerate((CommitPoint.SIGNAL_TOLD, CommitPoint.INPUT_KEPT, CommitPoint.INPUT_STARTED)):
        layover.crash_at(point)
        await layover.signal("order.created", {"n": n})
        await layover.skip("2s")
    assert layover.crashes == 3
    assert await inputs(layover) == [{"n": 0}, {"n": 1}, {"n": 2}]
