"""Points that systems answer: signals, callbacks, children."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.core.engine.commands import Create, Deliver, Report
from layover.core.engine.effects import OpenPoint, Scan, effects
from layover.core.engine.signals import awaited_signals

from .flows import only, rehearse

if TYPE_CHECKING:
    from layover.testing import Rehearsal


def deliver(flow: Rehearsal, node: str, id_: str, name: str, key: str = "", data: object = None) -> Rehearsal:
    flow.send(Deliver(point=flow.point(node).id, id=id_, name=name, key=key, data=data))
    return flow.run()


ONE = "  - {id: w, type: wait_signal, signal: paid, key: '${input}', filter: signal.data.sum > 10}\n"


def test_a_signal_is_taken_if_name_key_and_filter_fit() -> None:
    flow = rehearse(ONE).start(7)
    assert flow.status == "waiting"
    for id_, name, key, data in (
        ("1", "sent", "7", {"sum": 20}),
        ("2", "paid", "8", {"sum": 20}),
        ("3", "paid", "7", {"sum": 5}),
        ("4", "paid", "7", {}),
    ):
        assert deliver(flow, "w", id_, name, key, data).status == "waiting"
    deliver(flow, "w", "5", "paid", "7", {"sum": 20})
    assert flow.output == {"id": "5", "name": "paid", "key": "7", "data": {"sum": 20}, "at": flow.now}


def test_a_signal_that_had_come_before_keeps_its_own_time() -> None:
    flow = rehearse("  - {id: w, type: wait_signal, signal: paid, lookback: 1h}\n").start()
    flow.send(Deliver(point=flow.point("w").id, id="1", name="paid", at=300))
    assert flow.output == {"id": "1", "name": "paid", "key": "", "data": None, "at": 300}


@pytest.mark.parametrize(("lookback", "since"), [("", 0), (", lookback: 1s", 1_000)])
def test_earlier_signals_are_scanned_when_the_point_opens(lookback: str, since: int) -> None:
    flow = rehearse(f"  - {{id: w, type: wait_signal, signal: paid, key: '${{input}}'{lookback}}}\n")
    done = effects(flow.state, flow.send(Create(id="execution", input=7)))
    point = flow.point("w")
    assert done == [OpenPoint(point), Scan(point.id, (("paid", "7"),), flow.now - since, 2)]
    assert isinstance(flow.log[2][1], ev.PausePointOpened)


def test_each_signal_that_is_awaited_is_named_once() -> None:
    several = "[{alias: a, signal: x}, {alias: b, signal: y, key: '${input}'}, {alias: c, signal: x}]"
    flow = rehearse(f"  - {{id: w, type: wait_signal, signals: {several}}}\n").start(7)
    assert awaited_signals(flow.point("w")) == (("x", ""), ("y", "7"))


def test_only_a_point_for_signals_awaits_any() -> None:
    assert awaited_signals(rehearse("  - {id: w, type: form}\n").start().point("w")) == ()


def several(rules: str) -> str:
    return f"""
  - id: w
    type: wait_signal
    signals: [{{alias: a, signal: x}}, {{alias: b, signal: y}}, {{alias: c, signal: z, required: true}}]
    {rules}
"""


def test_all_of_several_signals_are_waited_for() -> None:
    flow = rehearse(several("need: all")).start()
    for id_, name in (("1", "x"), ("2", "z"), ("3", "y")):
        assert flow.status == "waiting"
        deliver(flow, "w", id_, name)
    assert isinstance(flow.output, dict)
    assert sorted(flow.output) == ["a", "b", "c"]


def test_a_required_signal_is_waited_for_even_if_enough_have_come() -> None:
    flow = rehearse(several("need: any")).start()
    assert deliver(flow, "w", "1", "x").status == "waiting"
    assert deliver(flow, "w", "2", "z").status == "completed"


@pytest.mark.parametrize(("need", "names"), [("1", "z"), ("2", "zx"), ("3", "zxy"), ("any", "z")])
def test_need_signals_are_enough(need: str, names: str) -> None:
    flow = rehearse(several(f"need: {need}")).start()
    for number, name in enumerate(names):
        assert flow.status == "waiting"
        deliver(flow, "w", str(number), name)
    assert flow.status == "completed"


def test_the_same_name_twice_takes_two_signals() -> None:
    flow = rehearse("  - {id: w, type: wait_signal, signals: [{alias: a, signal: x}, {alias: b, signal: x}]}\n").start()
    assert deliver(flow, "w", "1", "x", data=1).status == "waiting"
    deliver(flow, "w", "2", "x", data=2)
    assert isinstance(flow.output, dict)
    assert {alias: signal["data"] for alias, signal in flow.output.items()} == {"a": 1, "b": 2}


def test_a_signal_counts_once() -> None:
    flow = rehearse(several("need: all")).start()
    deliver(flow, "w", "1", "x")
    deliver(flow, "w", "1", "x")
    assert len(only(flow, ev.PausePointReceived)) == 1


def test_a_partial_deadline_gives_the_received_signals() -> None:
    flow = rehearse(several("deadline: 1h\n    on_deadline: partial")).start()
    deliver(flow, "w", "1", "x").skip(3_600_000)
    assert isinstance(flow.output, dict)
    assert list(flow.output) == ["a"]


def test_a_callback_gives_the_posted_data() -> None:
    flow = rehearse("  - {id: c, type: callback, call: start_it}\n").start()
    assert flow.status == "waiting"
    flow.send(Report(point=flow.point("c").id, output={"pallet": 3}))
    assert flow.output == {"pallet": 3}


def test_a_failed_child_fails_its_node_and_can_be_tried_again() -> None:
    flow = rehearse("  - {id: c, type: workflow, workflow: other, retry: {max_attempts: 2, delay: 1s}}\n").start()
    first = flow.point("c").id
    flow.send(Report(point=first, error=ev.Error(code="failed", message="broken")))
    flow.skip(1_000)
    second = flow.point("c").id
    assert first != second
    flow.send(Report(point=second, output="well"))
    assert flow.output == "well"


def test_a_late_report_changes_nothing() -> None:
    flow = rehearse("  - {id: c, type: callback, deadline: 1h, on_deadline: continue}\n").start()
    point = flow.point("c").id
    flow.skip(3_600_000)
    assert flow.send(Report(point=point, output=1)) == []
