"""`@node`: a function that workflows call by its name, and that programs call as before."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover import NOT_HAPPENED, Workflow, node
from layover.bootstrap import open_runtime
from layover.nodes.function import name_of
from layover.nodes.registry import BadFunction, Registry
from tests.runtime.harness import engine_at


@dataclass
class Parcel:
    weight: float
    fragile: bool = False


@node
async def weigh(parcel: Parcel, unit: str = "kg") -> str:
    """Weigh a parcel."""
    return f"{parcel.weight} {unit}"


@node(name="post")
def send(parcel: Parcel) -> Parcel:
    return Parcel(parcel.weight + 1)


def test_a_node_function_is_still_callable() -> None:
    assert asyncio.run(weigh(Parcel(2.0), unit="lb")) == "2.0 lb"
    assert send(Parcel(1.0)) == Parcel(2.0)
    assert (weigh.__name__, weigh.__doc__) == ("weigh", "Weigh a parcel.")
    assert list(inspect.signature(weigh).parameters) == ["parcel", "unit"]


def test_a_node_has_the_name_of_its_function_or_a_given_one() -> None:
    assert (weigh.name, send.name) == ("weigh", "post")
    assert (name_of(weigh), name_of(send), name_of(len)) == ("weigh", "post", "len")
    assert repr(send) == "<node post>"
    registry = Registry()
    assert [registry.add(weigh), registry.add(send), registry.add(send, "other")] == ["weigh", "post", "other"]


@pytest.mark.parametrize("name", ["loop", "not a name", "4"])
def test_reserved_and_invalid_names_are_refused(name: str) -> None:
    with pytest.raises(BadFunction, match="cannot be the name of a node type"):
        Registry().add(node(name=name)(send.function))


def test_a_probe_is_known_to_the_engine_with_its_function() -> None:
    @node
    async def charge(amount: float) -> None: ...

    @charge.probe
    async def was_charged(amount: float) -> object:
        assert isinstance(amount, float)
        return NOT_HAPPENED

    registry = Registry()
    registry.add(charge)
    assert registry.find_probe("charge").function is was_charged

    async def other(amount: float) -> None: ...

    registry.add(charge, probe=other)
    assert registry.find_probe("charge").function is other


async def test_types_hold_from_the_input_through_the_workflow_to_the_output(tmp_path: Path) -> None:
    flow = Workflow("posting", input=Parcel)
    sent = flow.call("sent", send, input={"parcel": "${input}"})
    sent >> flow.call("weighed", weigh, input={"parcel": "${nodes.sent}"})
    async with open_runtime(f"sqlite:///{tmp_path / 'a.db'}", nodes=flow.functions) as engine:
        await engine.workflows.register(flow)
        execution = await engine.executions.start("posting", {"weight": 1})
        assert await engine.executions.result(execution.id) == "2.0 kg"


async def test_an_input_that_does_not_fit_fails_the_attempt_without_a_retry(tmp_path: Path) -> None:
    flow = Workflow("posting")
    flow.call("sent", send, input={"parcel": "${input}"}, retry="forever")
    async with engine_at(tmp_path, send) as engine:
        await engine.workflows.register(flow)
        execution = await engine.executions.start("posting", {"weight": "much"}, wait="end")
        assert execution.error is not None
        assert (execution.error.code, execution.error.retryable) == ("bad_input", False)
        assert execution.error.message == "parcel.weight: expected float, got str"
        (done,) = await engine.queries.nodes(execution.id)
        assert done.attempt == 1


async def test_a_result_that_does_not_fit_fails_the_attempt_too(tmp_path: Path) -> None:
    @node
    async def count() -> list[int]:
        return [1, "two"]  # type: ignore[list-item]

    flow = Workflow("counting")
    flow.call("count", count)
    async with engine_at(tmp_path, count) as engine:
        await engine.workflows.register(flow)
        execution = await engine.executions.start("counting", wait="end")
        assert execution.error is not None
        assert (execution.error.code, execution.error.message) == ("bad_output", "result[1]: expected int, got str")


def test_a_name_passed_as_the_function_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a name is given as `@node\(name=…\)`"):
        node("charge")  # type: ignore[call-overload]
