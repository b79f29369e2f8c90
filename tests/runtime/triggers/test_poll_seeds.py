"""A source that repeats, reorders and withholds items, under crashes: by seeds, each item has one effect in the end.

The recorder is the list that the node function appends to: nothing of the engine has a say in it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from layover import Batch, Item, Workflow, node, source
from layover.ports.commit_points import CommitPoint
from tests.conftest import FACTOR

if TYPE_CHECKING:
    from layover import NodeContext
    from layover.testing import Layover

ITEMS = 60
POINTS = (
    CommitPoint.POLL_LEASED,
    CommitPoint.CURSOR_ADVANCED,
    CommitPoint.INPUT_KEPT,
    CommitPoint.INPUT_STARTED,
    CommitPoint.ROWS_WRITTEN,
    CommitPoint.CALL_STARTING,
)


@pytest.mark.parametrize("seed", range(4 * FACTOR))
async def test_no_item_is_lost_and_none_is_started_twice(layover: Layover, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - it plays with a source
    effects: defaultdict[str, set[str]] = defaultdict(set)

    @source
    async def feed(cursor: str | None) -> Batch:
        begin = int(cursor or 0)
        end = min(begin + chance.randint(0, 3), ITEMS)
        back = max(begin - chance.randint(0, 10), 0)
        names = [f"i{n}" for n in range(back, end)]
        names += chance.sample(names, k=min(len(names), 2))
        chance.shuffle(names)
        if chance.random() < 0.2:
            raise OSError("the line is busy")
        return Batch([Item(name, name) for name in names], cursor=str(end), more=chance.random() < 0.5)

    @node
    async def note(name: str, context: NodeContext) -> None:
        effects[name].add(context.execution_id)

    flow = Workflow("feed")
    flow.call("note", note, input={"name": "${input}"})
    flow.on_poll("feed", feed, every="10s")
    await layover.register(flow)
    for crashes, point in enumerate(chance.sample(POINTS, k=len(POINTS)), 1):
        layover.crash_at(point)
        while layover.crashes < crashes:
            await layover.skip("10s")
    while (await layover.trigger("feed/feed")).cursor != str(ITEMS):
        await layover.skip("1m")
    await layover.skip("1m")
    assert set(effects) == {f"i{n}" for n in range(ITEMS)}
    assert [name for name, executions in effects.items() if len(executions) != 1] == []
    executions = await layover.executions(workflow="feed").all()
    assert {one.id for one in executions} == {id_ for ids in effects.values() for id_ in ids}
