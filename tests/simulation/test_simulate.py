"""`layover.testing.simulate`: a workflow of one's own under the same faults, with a seed if a law is broken."""

from __future__ import annotations

import asyncio

import pytest

from layover import Workflow
from layover.core.definitions import InvalidDefinition
from layover.nodes.context import SyncNodeContext  # noqa: TC001 - the registry reads the annotation
from layover.testing import LawBroken, simulate
from layover.testing.simulation.oracle import Oracle

FLOW = {
    "name": "parcel",
    "nodes": [
        {"id": "weigh", "type": "weigh", "input": {"grams": "${input.grams}"}, "next": "ask"},
        {"id": "ask", "type": "form", "title": "Where to?", "schema": {"required": ["to"]}, "next": "may"},
        {"id": "may", "type": "approval", "next": "ship"},
        {"id": "ship", "type": "ship", "input": {"to": "${nodes.ask.to}"}},
    ],
}
ANSWERS = {"ask": {"to": "Rome"}}


async def weigh(grams: int) -> int:
    await asyncio.sleep(1)
    return grams


def ship(to: str) -> str:
    return to


def test_a_workflow_keeps_every_law() -> None:
    done = simulate(FLOW, [weigh, ship], inputs=[{"grams": 1}, {"grams": 2}], answers=ANSWERS, seeds=range(5))
    assert done.seeds == 5
    assert done.hours > 0.4
    assert done.faults
    assert done.statuses["completed"] > 0


def hand_over(context: SyncNodeContext, token: str) -> str:
    return str(context.once("handed", lambda: f"{len(token)}"))


def test_systems_outside_send_signals_reply_to_callbacks_and_answer_requests() -> None:
    retry = {"max_attempts": "forever", "delay": "1s"}
    pick = {"call": "hand_over", "input": {"token": "${callback.token}"}, "retry": retry}
    flow = {
        "name": "order",
        "nodes": [
            {"id": "paid", "type": "wait_signal", "signal": "paid", "key": "${input.id}", "next": "pick"},
            {"id": "pick", "type": "callback", **pick, "next": "look"},
            {"id": "look", "type": "http", "url": "https://example.com/", "on_error": "continue"},
        ],
    }
    done = simulate(flow, [hand_over], inputs=[{"id": 1}], answers={"pick": {"boxes": 2}}, seeds=range(3))
    assert set(done.statuses) == {"completed"}


def test_a_workflow_that_was_built_in_python_is_simulated_too() -> None:
    made = Workflow("built")
    made.call("weigh", weigh, input={"grams": 3})
    assert set(simulate(made, [weigh], seeds=range(1, 4), executions=3).statuses) == {"completed"}


def test_a_broken_law_comes_with_the_seed_that_breaks_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    begins = Oracle.begins

    def strict(self: Oracle, life: object, out: object) -> None:
        begins(self, life, out)  # type: ignore[arg-type]  # as it comes
        if out.call.attempt > 1:  # type: ignore[attr-defined]  # it is a call
            self.breaks("DONE_ONCE", "on purpose")

    monkeypatch.setattr(Oracle, "begins", strict)
    with pytest.raises(LawBroken, match=r"DONE_ONCE at .* on purpose") as found:
        simulate(FLOW, [weigh, ship], inputs=[{"grams": 1}], answers=ANSWERS, seeds=range(30))
    with pytest.raises(LawBroken) as again:
        simulate(FLOW, [weigh, ship], inputs=[{"grams": 1}], answers=ANSWERS, seeds=[found.value.seed])
    assert str(again.value) == str(found.value)
    assert "What happened before:" in str(found.value)


def test_what_is_no_workflow_is_refused() -> None:
    with pytest.raises(InvalidDefinition):
        simulate({"name": "x", "nodes": [{"id": "a", "type": "end", "next": "nowhere"}]})
