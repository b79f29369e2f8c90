"""`layover.testing.simulate`: a workflow of one's own under the same faults, with a seed if a law is broken."""

from __future__ import annotations

import asyncio

import pytest

from layover import Workflow, node
from layover.core.definitions import InvalidDefinition
from layover.nodes.context import CallContext, NodeContext, SyncNodeContext
from layover.nodes.probes import NOT_HAPPENED, Happened, Verdict
from layover.redaction import has_secrets
from layover.testing import LawBroken, TestKitError, effect, had_effect, simulate, undo_effect
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


PAID: dict[str, object] = {"name": "paid", "nodes": [{"id": "pay", "type": "charge"}]}


async def _charge_carelessly() -> None:
    effect("charge")
    await asyncio.sleep(2)


async def _charge_under_a_key(context: NodeContext) -> None:
    effect("charge", idempotency_key=context.idempotency_key)
    await asyncio.sleep(2)


charge = node(name="charge")(_charge_carelessly)
charge_under_a_key = node(name="charge")(_charge_under_a_key)


@charge.probe
async def look_for_charge() -> Happened | Verdict:
    return Happened(None) if had_effect("charge") else NOT_HAPPENED


@charge.undo
async def refund() -> None:
    undo_effect("charge")


def test_an_effect_that_happens_twice_breaks_a_law_and_the_seed_repeats_it() -> None:
    with pytest.raises(LawBroken, match=r"EFFECT_ONCE.* charge of .* happened twice: by i") as found:
        simulate(PAID, [charge], seeds=range(40), executions=4)
    with pytest.raises(LawBroken) as again:
        simulate(PAID, [charge], seeds=[found.value.seed], executions=4)
    told = str(found.value)
    assert told == str(again.value)
    assert f"What it takes: {', '.join(found.value.faults)}. The same again: `seeds=[{found.value.seed}]`." in told
    assert told.count("has the effect charge of") >= 2
    assert "asks the database" not in told
    assert any("asks the database: appends.commit" in line for line in found.value.trace)


def test_an_idempotency_key_makes_the_second_time_harmless() -> None:
    assert simulate(PAID, [charge_under_a_key], seeds=range(6)).faults["effects"] > 0


def test_a_key_that_is_another_each_time_is_of_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    key = property(lambda self: f"{self.execution_id} {self.attempt}")
    monkeypatch.setattr(CallContext, "idempotency_key", key)
    with pytest.raises(LawBroken, match="EFFECT_ONCE"):
        simulate(PAID, [charge_under_a_key], seeds=range(40), executions=4)


@pytest.mark.parametrize("on_crash", ["probe", "pause", "undo"])
def test_an_effect_that_is_looked_for_or_undone_before_a_lost_call_is_repeated_happens_once(on_crash: str) -> None:
    looked = {"name": "paid", "nodes": [{"id": "pay", "type": "charge", "on_crash": on_crash}]}
    assert simulate(looked, [charge], seeds=range(6)).statuses["completed"] > 0


def test_effects_are_recorded_in_simulations_only() -> None:
    effect("charge")
    undo_effect("charge")
    with pytest.raises(TestKitError, match="no simulation"):
        had_effect("charge")


def test_what_is_no_workflow_is_refused() -> None:
    with pytest.raises(InvalidDefinition):
        simulate({"name": "x", "nodes": [{"id": "a", "type": "end", "next": "nowhere"}]})


async def pay_in(key: str, amount: int) -> str:
    assert key == "simulated-SHOP_KEY"
    await asyncio.sleep(1)
    return f"{amount} by {key}"


def test_a_workflow_with_secrets_keeps_every_law() -> None:
    given = {"key": "${secrets.SHOP_KEY}", "amount": "${input}"}
    retry = {"max_attempts": "forever", "delay": "1s"}
    flow = {
        "name": "pay",
        "secrets": ["SHOP_KEY"],
        "nodes": [{"id": "charge", "type": "pay_in", "input": given, "retry": retry}],
    }
    done = simulate(flow, [pay_in], inputs=[1, 2], seeds=range(4))
    assert set(done.statuses) == {"completed"}
    assert not has_secrets()
