"""A workflow that triggers start, for tests that need every metric of triggers in a scrape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.core.ids import trigger_id
from layover.ports.delivery_records import DeliveryFilter
from layover.runtime.operations.triggers import Fire
from tests.runtime.harness import call, flow

if TYPE_CHECKING:
    from tests.api.harness import Api

_UNKNOWN = "11111111-1111-4111-8111-111111111111"
GRANTED: dict[str, Any] = {"allow_secrets": {"fired": ("HOOK_KEY",)}}  # settings of an engine that may register it

_TRIGGERS = [
    {"name": "fired", "type": "signal", "signal": "fire"},
    {"name": "held", "type": "signal", "signal": "hold"},
    {"name": "posted", "type": "webhook", "verify": {"scheme": "hmac", "header": "X-Signature", "secret": "HOOK_KEY"}},
]


async def register_triggered(api: Api) -> None:
    """Register the workflow."""
    definition = {
        **flow(call("a"), name="fired"),
        "secrets": ["HOOK_KEY"],
        "triggers": _TRIGGERS,
        "notify": [{"on": ["execution.completed"], "via": {"webhook": "http://localhost/refused"}}],
    }
    await api.engine.workflows.register(definition)


async def fire(api: Api) -> None:
    """Start one execution by a trigger, send one delivery that is not signed, and one signal that has to wait.

    That the execution has ended is told to an address that is refused.
    """
    fired = await api.engine.triggers.fire(trigger_id("fired", "fired"), Fire({}), None)
    assert fired.execution_id is not None
    await api.engine.executions.wait(fired.execution_id)
    dead = DeliveryFilter(state="dead", execution_id=fired.execution_id)
    while not await api.engine.instance.store.deliveries.list_deliveries(dead):
        await api.get("/healthz")
    assert (await api.ask("POST", "/hooks/fired/posted", {}, as_="")).status == 401
    await api.engine.triggers.pause(trigger_id("fired", "held"), "", None)
    await api.engine.signals.deliver("hold", "", {})  # it stays pending
    made = await api.post("/batches", {"act": "redeliver", "where": {"ids": [_UNKNOWN]}})
    while (await api.get(f"/batches/{made.json['id']}")).json["status"] != "completed":
        pass  # it asks the server, and meanwhile the engine goes on
