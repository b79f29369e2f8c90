"""What a plan says is what then happens, with an engine and a database: rewinds, forks and moves, up to their ends."""

from __future__ import annotations

from collections import Counter
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from layover import Engine, NodeContext, NotFound
from tests.runtime.harness import address_in

if TYPE_CHECKING:
    from layover import ExecutionHandle, NodeExecution

pytestmark = pytest.mark.usefixtures("each_database")

CHILD = {"name": "child", "nodes": [{"id": "agree", "type": "work"}]}
NODES: list[dict[str, Any]] = [
    {"id": "first", "type": "work", "next": "mark"},
    {"id": "mark", "type": "set", "values": {"n": 1, "fresh": True}, "next": "both"},
    {
        "id": "both",
        "type": "parallel",
        "branches": [
            {
                "id": "x",
                "body": [{"id": "ask", "type": "form", "schema": {}, "next": "then"}, {"id": "then", "type": "work"}],
            },
            {"id": "y", "body": [{"id": "kid", "type": "workflow", "workflow": "child"}]},
        ],
        "next": "rounds",
    },
    {"id": "rounds", "type": "loop", "times": 2, "body": [{"id": "each", "type": "work"}], "next": "again"},
    {"id": "again", "type": "set", "values": {"n": 2}, "next": "last"},
    {"id": "last", "type": "form", "schema": {}, "next": "close"},
    {"id": "close", "type": "work"},
]
ORIGIN = {"name": "planned", "variables": {"n": 0}, "nodes": NODES}


class Calls:
    """Counts the calls of each node of each execution."""

    def __init__(self) -> None:
        self.made: Counter[tuple[str, str]] = Counter()

    async def work(self, context: NodeContext) -> str:
        """Be called."""
        self.made[context.execution_id, context.context_id] += 1
        return context.context_id

    def of(self, execution: str) -> Counter[str]:
        """Return the calls of one execution."""
        return Counter({node: count for (id_, node), count in self.made.items() if id_ == execution})


async def answer_all(execution: ExecutionHandle, until: str = "") -> None:
    """Answer whatever is asked until the execution ends, or a node asks."""
    while (await execution.wait("people", timeout="60s")).status == "paused":
        asking = [point async for point in execution.points() if point.kind == "form"]
        if any(point.context_id == until for point in asking):
            return
        for point in asking:
            await point.answer({})


def as_in(plan: tuple[str, ...], name: str) -> str:
    """Return a node as a plan has it: a loop or parallel stands for all that is in it."""
    return name if name in plan else name.partition(":")[2].partition(":")[0].partition(".")[0] or name


async def finished(execution: ExecutionHandle) -> dict[str, NodeExecution]:
    return {one.context_id: one async for one in execution.nodes() if one.status == "completed"}


@pytest.mark.parametrize("to", ["first", "mark", "both", "rounds", "again", "last"])
async def test_a_rewind_and_a_fork_do_what_their_plans_say(tmp_path: Path, to: str) -> None:
    calls = Calls()
    async with Engine(address_in(tmp_path), nodes=[calls.work]) as engine:
        await engine.register(CHILD)
        await engine.register(ORIGIN)
        execution = await engine.start("planned")
        await answer_all(execution, until="last")
        plan_of_fork, plan = await execution.plan_fork(to), await execution.plan_rewind(to)
        before, results = calls.of(execution.id), await finished(execution)

        fork = await execution.fork(to)
        await answer_all(fork)
        carried = await finished(fork)
        again = {as_in(plan_of_fork.calls, one) for one in calls.of(fork.id)} - {"close"}
        assert again <= set(plan_of_fork.calls) <= again | {"both", "kid:both.y"}
        assert not set(plan_of_fork.kept) & set(calls.of(fork.id))
        assert [carried[name].output for name in plan_of_fork.kept] == [
            results[name].output for name in plan_of_fork.kept
        ]
        assert {name.partition(":")[0] for name in plan_of_fork.repeated} <= carried.keys() | {"last"}
        assert calls.of(execution.id) == before

        await execution.rewind(to)
        closed = [one.context_id async for one in execution.points(status=("cancelled",))]
        (rewound,) = [one async for one in execution.history() if one.type == "NodeRewound"]
        await answer_all(execution)
        made, after = calls.of(execution.id) - before, await finished(execution)

    assert execution.status == fork.status == "completed"
    assert sorted(closed) == sorted(plan.superseded)
    assert sorted({**rewound.data.get("variables", {}), **dict.fromkeys(rewound.data.get("unset", ()))}) == sorted(
        plan.variables
    )
    again = {as_in(plan.calls, one) for one in made} - {"close"}
    assert again <= set(plan.calls) <= again | {"both", "kid:both.y"}
    for name, one in results.items():
        is_kept = name not in plan.dropped and as_in(plan.dropped, name) not in plan.dropped
        assert (after[name].finished_at == one.finished_at) == is_kept, name
    assert after["mark"].status == "completed"
    assert execution.info.variables == fork.info.variables == {"n": 2, "fresh": True}


@pytest.mark.parametrize(
    ("node", "change", "names"),
    [
        ("last", {"title": "Once more?"}, {}),
        ("last", {"id": "final"}, {"last": "final"}),
        ("last", {"id": "final"}, {}),
        ("close", {"id": "end_it"}, {}),
        ("first", {"id": "begin"}, {}),
    ],
)
async def test_a_move_does_what_the_plan_of_the_version_says(
    tmp_path: Path, node: str, change: dict[str, Any], names: dict[str, str]
) -> None:
    calls, new = Calls(), change.get("id", node)
    nodes = [{**one, **(change if one["id"] == node else {})} for one in NODES]
    nodes = [{**one, **({"next": new} if one.get("next") == node else {})} for one in nodes]
    async with Engine(address_in(tmp_path), nodes=[calls.work]) as engine:
        await engine.register(CHILD)
        await engine.register(ORIGIN)
        execution = await engine.start("planned")
        await answer_all(execution, until="last")
        (group,) = (await engine.plan({**ORIGIN, "nodes": nodes}, map=names)).groups
        before = calls.of(execution.id)
        await engine.register({**ORIGIN, "nodes": nodes})
        batch = await engine.batch("move", {"workflow": "planned"}, version=2, map=names)
        await batch.wait(timeout="60s")
        await execution.refresh()
        open_ones = [one.context_id async for one in execution.points()]
        closed = [one.context_id async for one in execution.points(status=("cancelled",))]
        version = execution.version
        await answer_all(execution)

    assert (version == 2) == group.can_move == (batch.done == 1)
    assert group.kind == (
        "changed" if "title" in change else "moved" if names else "gone" if node == "last" else "same"
    )
    assert closed == list(group.asked_again)
    assert open_ones == ([new] if group.can_move and node == "last" else ["last"])
    end = new if group.can_move and node == "close" else "close"
    ran = dict.fromkeys(group.runs, 1) if group.can_move else {}
    assert calls.of(execution.id) - before == Counter({end: 1, **ran})
    assert execution.status == "completed"


async def test_a_plan_refuses_names_of_nodes_that_no_version_has(tmp_path: Path) -> None:
    old = {"name": "planned", "nodes": [{"id": "ask", "type": "form"}]}
    new = {"name": "planned", "nodes": [{"id": "other", "type": "form"}]}
    async with Engine(address_in(tmp_path)) as engine:
        await engine.register(old)
        await engine.start("planned", until="people", timeout="60s")
        with pytest.raises(NotFound, match="No version of the workflow `planned` has a node `typo`") as refused:
            await engine.plan(new, map={"typo": "other"})
        (group,) = (await engine.plan(new, map={"ask": "other"})).groups
        await engine.register(new)
        await (await engine.batch("move", {"workflow": "planned"}, version=2, map={"ask": "other"})).wait(timeout="60s")
        (moved,) = (await engine.plan(new, map={"ask": "other"})).groups  # the same plan once more
    assert refused.value.code == "unknown_node"
    assert (group.kind, group.can_move, moved.kind) == ("moved", True, "same")
