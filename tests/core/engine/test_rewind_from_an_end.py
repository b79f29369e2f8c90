"""Rewinds of an execution that an `end` node ended from within a branch."""

from __future__ import annotations

from layover.core.engine.commands import Rewind

from .flows import rehearse


def test_the_branch_of_the_end_node_does_not_block_the_others() -> None:
    flow = rehearse(
        "  - id: both\n"
        "    type: parallel\n"
        "    branches:\n"
        "      - {id: l, body: [{id: a, type: f, next: stop}, {id: stop, type: end, output: ended}]}\n"
        "      - {id: r, body: [{id: b, type: f}]}\n"
        "    next: last\n"
        "  - {id: last, type: compute, output: last}\n",
        {"f": lambda _given: "done"},
    ).start()
    assert (flow.status, flow.output) == ("completed", "ended")
    flow.send(Rewind(to="b:both.r", by="op"))
    assert (flow.run().status, flow.output) == ("completed", "last")
