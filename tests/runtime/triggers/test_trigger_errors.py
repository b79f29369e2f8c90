"""A trigger that becomes an error is told of once, with the transaction that makes it one."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import msgspec
import pytest

from layover.core.ids import trigger_id
from layover.core.notifications import NOTIFY, Occasion
from layover.core.notify_rules import load_notify
from layover.runtime.triggers.back_off import FAILURES
from layover.runtime.triggers.trigger_errors import TriggerErrors
from tests.runtime.harness import end, engine_at, flow

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

NIGHTLY = [{"name": "nightly", "type": "schedule", "cron": "0 3 1 1 *"}]
RULE = {"on": "trigger.error", "via": "ops-chat"}
FAR = 2**42  # later than today, so that the trigger is not due again while the engine runs
ID = trigger_id("flow", "nightly")


async def fail(engine: Runtime, times: int) -> list[bool]:
    """Have the trigger fail, as often; return of each failure whether it was noted."""
    instance = engine.instance
    errors = TriggerErrors(instance.store, instance.plans, instance.settings)
    noted: list[bool] = []
    for _ in range(times):
        row = await instance.store.triggers.find(ID)
        assert row is not None
        noted.append(await errors.note(row, "no connection", FAR))
    return noted


async def told(engine: Runtime) -> list[Occasion]:
    messages = await engine.instance.store.outbox.list_undelivered(ID)
    assert {message.kind for message in messages} <= {NOTIFY}
    return [msgspec.json.decode(message.body, type=Occasion) for message in messages]


async def no_relay(engine: Runtime) -> None:
    """Have messages stay in the outbox."""
    engine.instance.outbox_relay.stop()
    (relay,) = [task for task in asyncio.all_tasks() if task.get_name() == "layover outbox_relay"]
    await asyncio.wait([relay])


@pytest.mark.parametrize("asking", ["definition", "settings"])
async def test_an_error_notifies_once_however_long_it_lasts(tmp_path: Path, asking: str) -> None:
    of_settings = load_notify([RULE] if asking == "settings" else [])
    async with engine_at(tmp_path, notify=of_settings) as engine:
        await no_relay(engine)
        rules = [RULE] if asking == "definition" else []
        await engine.workflows.register(flow(end(1), triggers=NIGHTLY, notify=rules))
        await fail(engine, FAILURES - 1)
        assert await told(engine) == []
        assert await fail(engine, 3) == [True] * 3
        [occasion] = await told(engine)
        assert (occasion.kind, occasion.subject, occasion.reason) == ("trigger.error", "flow/nightly", "no connection")
        assert bool(occasion.hash) == (asking == "definition")


async def test_without_a_rule_an_error_notifies_of_nothing(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1), triggers=NIGHTLY))
        await fail(engine, FAILURES)
        assert await told(engine) == []


async def test_of_two_instances_that_note_the_same_failure_one_tells_of_it(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await no_relay(engine)
        await engine.workflows.register(flow(end(1), triggers=NIGHTLY, notify=[RULE]))
        await fail(engine, FAILURES - 1)
        instance = engine.instance
        row = await instance.store.triggers.find(ID)
        assert row is not None
        errors = TriggerErrors(instance.store, instance.plans, instance.settings)
        assert await errors.note(row, "no connection", FAR)
        assert not await errors.note(row, "no connection", FAR)
        assert len(await told(engine)) == 1
