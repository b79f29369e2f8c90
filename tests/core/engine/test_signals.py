"""A signal without a target point is taken by every point that waits for it at that moment."""

from __future__ import annotations

from layover.core.engine import events as ev
from layover.core.engine.commands import Deliver, Rewind
from layover.core.engine.effects import Scan, effects
from layover.core.plan import load
from layover.testing.rehearsal import Rehearsal


def wait(id_: str, key: str, **fields: object) -> dict[str, object]:
    return {"id": id_, "type": "wait_signal", "signal": "s", "key": key, **fields}


def branches(*bodies: list[dict[str, object]]) -> Rehearsal:
    named = [{"id": f"b{n}", "body": body} for n, body in enumerate(bodies)]
    return Rehearsal(load({"name": "w", "nodes": [{"id": "p", "type": "parallel", "branches": named}]})).start()


def test_a_signal_is_taken_at_every_open_point_that_waits_for_it() -> None:
    flow = branches([wait("a", "k")], [wait("b", "k")], [wait("c", "other")], [wait("d", "k", filter="false")])
    flow.send(Deliver(id="1", name="s", key="k"))
    assert flow.waiting == ["c:p.b2", "d:p.b3"]


def test_a_signal_is_not_taken_at_a_point_that_opens_because_of_it() -> None:
    flow = branches([wait("a", "k", next="b"), wait("b", "k")])
    flow.send(Deliver(id="1", name="s", key="k"))
    assert flow.waiting == ["b:p.b0"]
    flow.send(Deliver(id="2", name="s", key="k"))
    assert flow.status == "completed"


def test_a_signal_is_taken_by_a_point_that_waits_for_several() -> None:
    signals = [{"alias": "x", "signal": "s", "key": "k"}, {"alias": "y", "signal": "s", "key": "other"}]
    flow = branches([{"id": "a", "type": "wait_signal", "signals": signals}], [wait("b", "nobody")])
    for key in ("other", "third", "k"):
        assert flow.waiting == ["a:p.b0", "b:p.b1"]
        flow.send(Deliver(id=key, name="s", key=key))
    assert flow.waiting == ["b:p.b1"]


def test_a_signal_may_name_one_point() -> None:
    flow = branches([wait("a", "k")], [wait("b", "k")])
    flow.send(Deliver(point=flow.point("b:p.b1").id, id="1", name="s", key="k"))
    assert flow.waiting == ["a:p.b0"]


def test_of_waits_that_look_back_only_one_takes_a_signal() -> None:
    flow = branches([wait("a", "k", lookback="1h")], [wait("b", "k", lookback="1h")])
    a, b = flow.point("a:p.b0").id, flow.point("b:p.b1").id
    for point in ("", a, b):
        flow.send(Deliver(point=point, id="1", name="s", key="k"))
    assert flow.waiting == ["b:p.b1"]
    flow.send(Deliver(point=b, id="2", name="s", key="k"))
    assert flow.status == "completed"


def test_a_signal_that_comes_for_a_wait_that_looks_back_has_the_mailbox_read() -> None:
    flow = branches([wait("a", "k", lookback="1h", filter="signal.data == 1")])
    point = flow.point("a:p.b0")
    assert flow.send(Deliver(id="0", name="s", key="k", data=0)) == []
    events = flow.send(Deliver(id="1", name="s", key="k", data=1))
    assert events == [ev.PausePointSignalled(point=point.id, signal="1", since=point.opened_at - 3_600_000)]
    assert flow.waiting == ["a:p.b0"]
    (scan,) = effects(flow.state, events)
    assert isinstance(scan, Scan)
    assert (scan.point, scan.signals, scan.since) == (point.id, (("s", "k"),), point.opened_at - 3_600_000)


def test_a_wait_that_looks_back_takes_what_no_wait_before_it_has_taken() -> None:
    flow = branches([wait("a", "k", next="b"), wait("b", "k", lookback="1h")])
    flow.send(Deliver(id="1", name="s", key="k"))
    scan = flow.point("b:p.b0")
    flow.send(Deliver(point=scan.id, id="1", name="s", key="k", at=flow.now))
    assert flow.waiting == ["b:p.b0"]
    flow.send(Deliver(point=scan.id, id="2", name="s", key="k", at=flow.now))
    assert flow.status == "completed"


def test_a_rewound_wait_may_take_its_signal_again() -> None:
    flow = Rehearsal(
        load({"name": "w", "nodes": [wait("a", "k", lookback="1h", next="f"), {"id": "f", "type": "form"}]})
    )
    flow.start()
    flow.send(Deliver(point=flow.point("a").id, id="1", name="s", key="k"))
    assert flow.waiting == ["f"]
    flow.send(Rewind(to="a"))
    flow.send(Deliver(point=flow.point("a").id, id="1", name="s", key="k", at=flow.now))
    assert flow.waiting == ["f"]


def test_signals_that_no_wait_can_look_back_to_are_forgotten() -> None:
    body = [wait("a", "k", lookback="1h")]
    rounds = {"id": "l", "type": "loop", "for_each": "input", "body": body}
    flow = Rehearsal(load({"name": "w", "nodes": [rounds]})).start(list(range(300)))
    for number in range(299):
        point = flow.point(f"a:l.{number}").id
        flow.send(Deliver(point=point, id=str(number), name="s", key="k", at=flow.now))
        flow.skip(60_000)
    assert flow.waiting == ["a:l.299"]
    assert 61 <= len(flow.state.taken) <= 61 + 2 * 64
