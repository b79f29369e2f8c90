"""Acts that an execution cannot follow: the refusal says why, and what would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover.errors import NotFound, WrongState
from tests.runtime.harness import flow, form

if TYPE_CHECKING:
    from layover import ExecutionHandle
    from layover.testing import Layover

LINES = {"id": "lines", "type": "loop", "for_each": "input", "body": [form("check")], "next": "both"}
BOTH = {
    "id": "both",
    "type": "parallel",
    "branches": [{"id": "left", "body": [form("seen")]}, {"id": "right", "body": [form("heard")]}],
}


async def started(layover: Layover, *nodes: dict[str, Any], input: object = None) -> ExecutionHandle:  # noqa: A002
    await layover.register(flow(*nodes, name="acted"))
    return await layover.start("acted", input)


@pytest.mark.parametrize(
    ("node", "container", "example"), [("check", "lines", "check:lines.0"), ("heard", "both", "heard:both.right")]
)
async def test_a_node_inside_of_a_container_is_named_with_its_round_or_branch(
    layover: Layover, node: str, container: str, example: str
) -> None:
    execution = await started(layover, LINES, BOTH, input=[1, 2])
    acts = (execution.rewind, execution.plan_rewind, execution.run_now, execution.cancel_retry, execution.fork)
    for act in acts:
        with pytest.raises(NotFound) as refused:
            await act(node)
        assert refused.value.code == "unknown_node"
        assert refused.value.message == (
            f"`{node}` is inside of `{container}`: name its round or branch as well, such as `{example}`."
        )


@pytest.mark.parametrize(
    "node", ["heard:both.middle", "both:both.left", "heard:both.right:lines.0", "check:lines.x", "check/x"]
)
async def test_a_fork_from_a_place_that_the_workflow_does_not_have_is_refused(layover: Layover, node: str) -> None:
    execution = await started(layover, LINES, BOTH, input=[1])
    for act in (execution.plan_fork, execution.fork):
        with pytest.raises(NotFound) as refused:
            await act(node)
        assert refused.value.code == "unknown_node"


async def test_what_waits_for_a_person_is_not_resumed_but_answered(layover: Layover) -> None:
    execution = await started(layover, form("ask"))
    with pytest.raises(WrongState, match=r"No operator has paused it: it waits for an answer at `ask`."):
        await execution.resume()
    with pytest.raises(WrongState, match=r"It is paused, and nothing of it has failed."):
        await execution.retry()


async def test_what_runs_is_neither_resumed_nor_retried(layover: Layover) -> None:
    execution = await started(layover, {"id": "nap", "type": "delay", "duration": "1h"})
    with pytest.raises(WrongState, match=r"No operator has paused it: it is waiting."):
        await execution.resume()
    with pytest.raises(WrongState, match=r"It is waiting, and nothing of it has failed."):
        await execution.retry()
