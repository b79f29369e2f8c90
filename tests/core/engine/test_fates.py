"""A pause lists the fate of everything that was in flight when the gate closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine.commands import Ask, Complete, Create, Fail, Pause, Resume, Rewind, StopDraining

from .flows import only, rehearse

if TYPE_CHECKING:
    from layover.testing import Rehearsal

ERROR = ev.Error(code="failed", type="OSError", message="lost")
MANY = """
  - {id: s, type: compute, output: 0, next: [done, failed, later, held, asks, lost, child]}
  - {id: done, type: f, next: after}
  - {id: after, type: f}
  - {id: failed, type: f, on_error: continue}
  - {id: later, type: f, retry: {max_attempts: 2, delay: 1h}}
  - {id: held, type: f, retry: {max_attempts: 1, on_exhausted: pause}}
  - {id: asks, type: f}
  - {id: lost, type: f}
  - {id: child, type: workflow, workflow: other}
"""


def begun(nodes: str) -> Rehearsal:
    flow = rehearse(nodes)
    flow.send(Create(id="execution"))
    return flow


def fates(flow: Rehearsal) -> dict[str, ev.Fate]:
    [paused] = only(flow, ev.ExecutionPaused)
    assert isinstance(paused, ev.ExecutionPaused)
    return paused.fates


def test_every_node_in_flight_is_listed_with_its_fate() -> None:
    flow = begun(MANY)
    flow.send(Pause())
    flow.send(Complete(node="done", attempt=1))
    for name in ("failed", "later", "held"):
        flow.send(Fail(node=name, attempt=1, error=ERROR))
    flow.send(Ask(node="asks", attempt=1, key="size"))
    flow.send(StopDraining())
    assert fates(flow) == {
        "asks": "waiting",
        "done": "completed",
        "failed": "failed",
        "held": "incident",
        "later": "backoff",
        "lost": "in_doubt",
    }
    assert flow.state.facts.in_doubt == ("lost",)
    assert flow.state.facts.in_flight == ()


def test_nothing_is_in_doubt_once_the_gate_is_open() -> None:
    flow = begun("  - {id: a, type: f}\n")
    flow.send(Pause())
    assert flow.state.facts.in_flight == ("a",)
    flow.send(StopDraining())
    assert "a" in flow.state.facts.in_doubt
    flow.send(Resume())
    facts = flow.state.facts
    assert not facts.in_doubt
    assert not facts.fates


def test_nodes_cancelled_by_a_failed_branch_are_stopped() -> None:
    flow = begun(
        "  - {id: p, type: parallel, on_failure: continue, branches: ["
        "{id: x, body: [{id: s, type: compute, output: 0, next: [a, b]}, {id: a, type: f}, {id: b, type: f}]},"
        "{id: y, body: [{id: c, type: f}]}]}\n"
    )
    flow.send(Pause())
    flow.send(Fail(node="a:p.x", attempt=1, error=ERROR))
    assert flow.status == "pausing"
    flow.send(Complete(node="c:p.y", attempt=1))
    assert fates(flow) == {"a:p.x": "failed", "b:p.x": "stopped", "c:p.y": "completed"}


def test_rewound_nodes_are_ready_again() -> None:
    flow = begun("  - {id: a, type: f, next: b}\n  - {id: b, type: f}\n")
    flow.call("a")
    flow.send(Pause())
    flow.send(Rewind(to="a"))
    assert fates(flow) == {"b": "idle"}


def test_an_execution_at_rest_has_nothing_in_flight() -> None:
    flow = begun("  - {id: a, type: form}\n")
    assert flow.send(Pause(reason="hold")) == [ev.ExecutionPausing(reason="hold"), ev.ExecutionPaused()]
