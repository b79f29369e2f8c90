"""A signal that is for nobody in particular is taken wherever the execution waits for it at that moment."""

from __future__ import annotations

from layover.core.engine.commands import Deliver
from layover.core.plan import load
from layover.testing.rehearsal import Rehearsal


def wait(id_: str, key: str, **fields: object) -> dict[str, object]:
    return {"id": id_, "type": "wait_signal", "signal": "s", "key": key, **fields}


def branches(*bodies: list[dict[str, object]]) -> Rehearsal:
    named = [{"id": f"b{n}", "body": body} for n, body in enumerate(bodies)]
    return Rehearsal(load({"name": "w", "nodes": [{"id": "p", "type": "parallel", "branches": named}]})).start()


def test_it_is_taken_at_every_open_point_that_waits_for_it() -> None:
    flow = branches([wait("a", "k")], [wait("b", "k")], [wait("c", "other")], [wait("d", "k", filter="false")])
    flow.send(Deliver(id="1", name="s", key="k"))
    assert flow.waiting == ["c:p.b2", "d:p.b3"]


def test_it_is_not_taken_at_a_point_that_opens_because_of_it() -> None:
    flow = branches([wait("a", "k", next="b"), wait("b", "k")])
    flow.send(Deliver(id="1", name="s", key="k"))
    assert flow.waiting == ["b:p.b0"]
    flow.send(Deliver(id="2", name="s", key="k"))
    assert flow.status == "completed"


def test_it_is_taken_by_a_point_that_waits_for_several() -> None:
    signals = [{"alias": "x", "signal": "s", "key": "k"}, {"alias": "y", "signal": "s", "key": "other"}]
    flow = branches([{"id": "a", "type": "wait_signal", "signals": signals}], [wait("b", "nobody")])
    for key in ("other", "third", "k"):
        assert flow.waiting == ["a:p.b0", "b:p.b1"]
        flow.send(Deliver(id=key, name="s", key=key))
    assert flow.waiting == ["b:p.b1"]


def test_it_may_be_meant_for_one_point() -> None:
    flow = branches([wait("a", "k")], [wait("b", "k")])
    flow.send(Deliver(point=flow.point("b:p.b1").id, id="1", name="s", key="k"))
    assert flow.waiting == ["a:p.b0"]
