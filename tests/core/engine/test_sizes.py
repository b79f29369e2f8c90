"""Values that an execution builds from others have the same size limit as values from outside."""

from __future__ import annotations

import pytest

from layover.core.engine import events as ev
from layover.core.engine.commands import Deliver
from layover.core.plan import load
from layover.testing.rehearsal import Rehearsal

from .flows import only, rehearse

LARGE = "x" * 400_000  # two of them fit into an event, three do not
FORK = "  - {id: fork, type: compute, output: 1, next: [n0, n1, n2]}\n"
BODY = "body: [{id: c, type: compute, output: '${item}'}]"


@pytest.mark.parametrize("kind", ["loop", "parallel"])
@pytest.mark.parametrize("collect", ["", "collect: '${[item, item.size()]}', "])
def test_a_container_that_collects_too_much_fails(kind: str, collect: str) -> None:
    collecting = f"  - {{id: l, type: {kind}, for_each: input, {collect}{BODY}}}\n"
    assert rehearse(collecting).start([LARGE, LARGE]).status == "completed"
    flow = rehearse(collecting).start([LARGE, LARGE, LARGE])
    assert flow.error == "payload_too_large"
    (failed,) = [one for one in only(flow, ev.NodeFailed) if isinstance(one, ev.NodeFailed)]
    assert (failed.node, failed.error.retryable) == ("l", False)
    assert failed.error.message.startswith("The collected output has 1,200,")


def test_a_workflow_can_take_care_of_a_collection_that_is_too_large() -> None:
    flow = rehearse(
        f"  - {{id: l, type: loop, for_each: input, {BODY}, next: {{error: e}}}}\n"
        "  - {id: e, type: compute, output: '${errors.l.code}'}\n"
    ).start([LARGE] * 3)
    assert flow.output == "payload_too_large"


@pytest.mark.parametrize(
    "node",
    [
        "{id: c, type: compute, output: {a: '${input.x}', b: '${input.x}', c: '${input.x}'}}",
        "{id: c, type: compute, output: '${[input.x, input.y, input.z]}'}",
        "{id: c, type: set, values: {a: '${input.x}', b: '${input.x}', c: '${input.x}'}}",
        "{id: c, type: f, input: ['${input.x}', '${input.x}', '${input.x}']}",
        "{id: c, type: end, output: ['${input.x}', '${input.x}', '${input.x}']}",
    ],
)
def test_templates_cannot_build_a_value_larger_than_an_event(node: str) -> None:
    given = {"x": LARGE, "y": LARGE[1:], "z": LARGE[2:]}
    flow = rehearse(f"  - {node}\n").start(given)
    assert (flow.status, flow.error) == ("failed", "payload_too_large")


@pytest.mark.parametrize("all_of", ["nodes", "vars"])
def test_all_of_some_kind_may_be_too_much_to_be_passed_on(all_of: str) -> None:
    parts = "".join(
        f"  - {{id: n{n}, type: compute, output: '${{input}}', next: s{n}}}\n"
        f"  - {{id: s{n}, type: set, values: {{v{n}: '${{input}}'}}, next: n{n + 1}}}\n"
        for n in range(3)
    )
    flow = rehearse(f"{parts}  - {{id: n3, type: compute, output: '${{{all_of}}}'}}\n").start(LARGE)
    assert (flow.status, flow.error) == ("failed", "payload_too_large")


def test_a_merge_of_too_much_fails() -> None:
    ends = "".join(f"  - {{id: n{n}, type: compute, output: '${{input}}', next: m}}\n" for n in range(3))
    flow = rehearse(f"{FORK}{ends}  - {{id: m, type: merge, strategy: all}}\n").start(LARGE)
    assert (flow.status, flow.error) == ("failed", "payload_too_large")


def test_an_execution_whose_last_nodes_give_too_much_fails() -> None:
    ends = "".join(f"  - {{id: n{n}, type: compute, output: '${{input}}'}}\n" for n in range(3))
    flow = rehearse(f"{FORK}{ends}").start(LARGE)
    assert (flow.status, flow.error) == ("failed", "payload_too_large")


def test_signals_that_are_too_much_together_fail_their_wait() -> None:
    signals = [{"alias": key, "signal": "s", "key": key} for key in "abc"]
    flow = Rehearsal(load({"name": "w", "nodes": [{"id": "a", "type": "wait_signal", "signals": signals}]})).start()
    for key in "abc":
        flow.send(Deliver(id=key, name="s", key=key, data=LARGE))
    assert (flow.status, flow.error) == ("failed", "payload_too_large")


def test_only_the_first_failures_of_many_branches_are_listed() -> None:
    flow = rehearse(
        "  - {id: p, type: parallel, for_each: input, on_failure: continue,"
        " body: [{id: c, type: compute, output: '${1 / 0}'}]}\n"
    ).start(list(range(150)))
    (error,) = [one.error for one in only(flow, ev.NodeCompleted) if isinstance(one, ev.NodeCompleted)]
    assert error is not None
    assert error.message == "150 of 150 branches failed."
    assert isinstance(error.details, list)
    assert len(error.details) == 100
