"""Fakes stand in for functions, and remember what they were called with."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from layover.testing import Layover, NeverSettles
from tests.runtime.harness import Refused, call, end, fan_out, flow

if TYPE_CHECKING:
    from layover.nodes.context import NodeContext


async def test_a_fake_returns_the_given_value(layover: Layover) -> None:
    fake = layover.fake("work", returns={"id": 7})
    execution = await layover.start(flow(call("a", input={"n": 1}), end("${nodes.a.id}")))
    assert (execution.output, fake.inputs) == (7, [{"n": 1}])
    (one,) = fake.calls
    assert (one.context_id, one.attempt, one.execution_id, one.at) == ("a", 1, execution.id, layover.now)
    assert one.idempotency_key == f"{execution.id}/a"


async def test_it_may_be_given_what_is_no_object(layover: Layover) -> None:
    fake = layover.fake("work")
    await layover.start(flow(fan_out(call("a", input="${item}"), "[1, 'two', [3], null]")))
    assert sorted(fake.inputs, key=repr) == sorted([1, "two", [3], None], key=repr)


@pytest.mark.parametrize("what", [Refused("no"), Refused])
async def test_a_fake_raises_the_given_error(layover: Layover, what: Refused | type[Refused]) -> None:
    layover.fake("work", raises=what)
    execution = await layover.start(flow(call("a")))
    assert execution.error is not None
    assert execution.error.type == "Refused"


async def test_it_does_one_thing_after_the_other_and_the_last_for_ever(layover: Layover) -> None:
    layover.fake("work", script=[1, Refused("no"), 3])
    execution = await layover.start(
        flow(call("a"), call("b", on_error="continue"), call("c"), call("d"), end("${[nodes.a, nodes.c, nodes.d]}"))
    )
    assert execution.output == [1, 3, 3]


async def test_it_calls_something_else(layover: Layover) -> None:
    async def doubled(n: int, context: NodeContext) -> str:
        return f"{context.context_id} {2 * n}"

    def halved(n: int) -> int:
        return n // 2

    layover.fake("work", side_effect=doubled)
    layover.fake("rest", side_effect=halved)
    execution = await layover.start(
        flow(call("a", input={"n": 4}), call("b", "rest", input={"n": 4}), end("${[nodes.a, nodes.b]}"))
    )
    assert execution.output == ["a 8", 2]


async def test_a_fake_takes_one_of_returns_and_raises(layover: Layover) -> None:
    with pytest.raises(TypeError, match="`work` is given `returns` and `raises`"):
        layover.fake("work", returns=1, raises=Refused("no"))


async def test_it_replaces_what_was_there_also_while_an_execution_waits(layover: Layover) -> None:
    layover.fake("work", raises=Refused("no"))
    execution = await layover.start(flow(call("a", retry={"max_attempts": 2, "delay": "1m"}), end("${nodes.a}")))
    layover.fake("work", returns="yes")
    await layover.skip("1m")
    assert execution.output == "yes"


async def test_real_functions_are_really_called(layover: Layover) -> None:
    loops: list[object] = []

    async def on_loop() -> str:
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return "loop"

    def in_thread() -> str:
        return threading.current_thread().name

    layover.nodes(on_loop, in_thread)
    execution = await layover.start(flow(call("a", "on_loop"), call("b", "in_thread"), end("${[nodes.a, nodes.b]}")))
    assert execution.output[0] == "loop"
    assert execution.output[1].startswith("layover-call")
    assert loops == [asyncio.get_running_loop()]  # what a test has made there can be used by the functions


async def test_a_function_that_hangs_is_named(layover: Layover) -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    layover.nodes(hang)
    layover.patience = "0s"
    with pytest.raises(NeverSettles, match=r"these calls have not ended: `a` of"):
        await layover.start(flow(call("a", "hang")))
