"""Containers over data have a bound even if their author gave none; what was registered before stays as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover.core.definitions.bounded import bounded
from layover.core.plan import load
from tests.runtime.harness import engine_at

if TYPE_CHECKING:
    from pathlib import Path

BODY = [{"id": "one", "type": "compute", "output": 1}]


def flow(**container: object) -> dict[str, Any]:
    return {"name": "flow", "nodes": [{"id": "each", "body": BODY, **container}]}


@pytest.mark.parametrize(
    "container",
    [
        {"type": "loop", "for_each": "input"},
        {"type": "loop", "times": "${size(input)}"},
        {"type": "parallel", "for_each": "input"},
        {"type": "parallel", "for_each": "input", "concurrency": 2},
    ],
)
async def test_a_container_over_data_has_a_default_number_of_rounds(tmp_path: Path, container: dict[str, Any]) -> None:
    async with engine_at(tmp_path, max_iterations=3) as engine:
        version = await engine.workflows.register(flow(**container))
        assert msgspec.json.decode(version.document)["nodes"][0]["max_iterations"] == 3
        assert (await engine.executions.start("flow", [1, 2, 3], wait="end")).status == "completed"
        failed = await engine.executions.start("flow", [1, 2, 3, 4], wait="end")
        assert failed.error is not None
        assert (failed.status, failed.error.code) == ("failed", "too_many_iterations")
        assert "max_iterations" in failed.error.message


@pytest.mark.parametrize(
    "container",
    [
        {"type": "loop", "for_each": "input", "max_iterations": 5},
        {"type": "parallel", "for_each": "input", "max_iterations": 5},
        {"type": "loop", "times": 5},
    ],
)
async def test_what_says_itself_how_often_it_runs_keeps_its_word(tmp_path: Path, container: dict[str, Any]) -> None:
    async with engine_at(tmp_path, max_iterations=3) as engine:
        assert (await engine.workflows.register(flow(**container))).hash == load(flow(**container)).hash
        assert (await engine.executions.start("flow", [1, 2, 3, 4], wait="end")).status == "completed"


async def test_containers_within_others_are_bounded_as_well(tmp_path: Path) -> None:
    inner = {"id": "inner", "type": "loop", "for_each": "input", "body": BODY}
    branches = [{"id": "b", "body": [inner]}]
    async with engine_at(tmp_path, max_iterations=3) as engine:
        await engine.workflows.register(
            {"name": "flow", "nodes": [{"id": "p", "type": "parallel", "branches": branches}]}
        )
        failed = await engine.executions.start("flow", [1, 2, 3, 4], wait="end")
        assert failed.error is not None
        assert failed.error.code == "too_many_iterations"


async def test_what_was_registered_without_a_bound_stays_as_it_is(tmp_path: Path) -> None:
    definition = flow(type="loop", for_each="input")
    async with engine_at(tmp_path, max_iterations=None) as engine:
        before = await engine.workflows.register(definition)
    async with engine_at(tmp_path, max_iterations=3) as engine:
        again = await engine.workflows.register(definition)
        assert (again.number, again.hash) == (before.number, before.hash) == (1, load(definition).hash)
        assert (await engine.executions.start("flow", [1, 2, 3, 4], wait="end")).status == "completed"
        changed = await engine.workflows.register(flow(type="loop", for_each="input.map(x, x)"))
        assert msgspec.json.decode(changed.document)["nodes"][0]["max_iterations"] == 3


async def test_registering_twice_makes_one_version(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        first = await engine.workflows.register(flow(type="loop", for_each="input"))
        second = await engine.workflows.register(flow(type="loop", for_each="input"))
        assert (first.number, first.hash) == (second.number, second.hash)
        assert msgspec.json.decode(first.document)["nodes"][0]["max_iterations"] == 10_000


def test_a_definition_without_such_containers_is_the_same_object() -> None:
    definition = load({"name": "w", "nodes": BODY}).definition
    assert bounded(definition, 3) is definition
