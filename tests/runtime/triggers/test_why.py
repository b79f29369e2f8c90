"""`why` names what keeps a trigger from firing; the two reasons of polling are tested with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import Engine, NotAllowed
from tests.runtime.triggers.test_operations import flow, hourly

if TYPE_CHECKING:
    from pathlib import Path

    from layover import TriggerHandle
    from layover.testing import Layover

HOOK: dict[str, Any] = {"name": "paid", "type": "webhook", "verify": {"scheme": "stripe", "secret": "KEY"}}


async def reasons(trigger: TriggerHandle) -> dict[str, str]:
    return {one.kind: one.text for one in (await trigger.why()).reasons}


async def test_why_names_the_state_and_the_user_who_set_it(layover: Layover) -> None:
    await layover.register(flow(hourly()))
    trigger = await layover.as_user("ada", ["admin"]).trigger("tick/often")
    await trigger.pause("holiday")
    assert (await trigger.why()).summary == "It is paused by ada: holiday"


async def test_the_state_of_its_workflow(layover: Layover) -> None:
    workflow = await layover.register(flow(hourly()))
    await workflow.pause()
    assert (await (await layover.trigger("tick/often")).why()).summary == "It is paused: Its workflow is paused."


async def test_that_no_instance_serves_it(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'x.db'}"
    async with Engine(database) as engine:
        await engine.register(flow(hourly()))
    async with Engine(database, drive=False) as engine:
        assert "no_instance" in await reasons(await engine.trigger("tick/often"))


async def test_a_secret_that_is_missing(layover: Layover) -> None:
    await layover.register({**flow(HOOK), "secrets": ["KEY"]})
    trigger = await layover.trigger("tick/paid")
    assert await reasons(trigger) == {"missing_secret": "The secret `KEY` is missing here."}
    layover.secret("KEY", "the key of the shop")
    await layover.skip("1m")
    assert await reasons(trigger) == {"ready": "It fires when something arrives."}


async def test_the_next_moment(layover: Layover) -> None:
    await layover.register(flow(hourly()))
    assert await reasons(await layover.trigger("tick/often")) == {"next": "It is due at 2026-01-01T01:00:00.000Z."}


async def test_the_execution_that_overlaps_and_its_why(layover: Layover) -> None:
    await layover.register({**flow(hourly()), "nodes": [{"id": "a", "type": "delay", "duration": "5h"}]})
    await layover.skip("1h")
    (overlap,) = [one for one in (await (await layover.trigger("tick/often")).why()).reasons if one.kind == "overlap"]
    assert overlap.text.startswith("Its last execution is open: ")
    assert overlap.because


async def test_what_was_filtered_and_by_which_part(layover: Layover) -> None:
    found = 'trigger.data.a == "x && y" && (trigger.data.n > 1 && true) && trigger.data.m < 3'
    await layover.register(flow({"name": "sent", "type": "signal", "signal": "s", "filter": found}))
    trigger = await layover.trigger("tick/sent")
    for data in ({"a": "x"}, {"a": "x && y", "n": 2, "m": 3}):
        await layover.signal("s", data)
    since = "2 inputs were filtered since 2026-01-01T00:00:00.000Z"
    assert await reasons(trigger) == {"filtered": f"{since}, most recently because `trigger.data.m < 3` is false."}
    await layover.signal("s", {"a": "x && y", "n": 1, "m": 1})
    assert "because `(trigger.data.n > 1 && true)` is false" in (await reasons(trigger))["filtered"]


async def test_occurrences_that_were_skipped(layover: Layover) -> None:
    await layover.register(flow(hourly(filter="false")))
    await layover.skip("1h")
    assert '"reason":"filtered"' in (await reasons(await layover.trigger("tick/often")))["skipped"]


async def test_what_was_rejected(layover: Layover) -> None:
    await layover.register(flow(hourly(input="${trigger.data.nothing}")))
    trigger = await layover.trigger("tick/often")
    await trigger.fire({}, id="bad")
    assert (await reasons(trigger))["rejected"].startswith("Inputs were rejected, most recently `bad`: ")


async def test_the_last_refused_delivery_with_its_clock(layover: Layover) -> None:
    layover.secret("KEY", "the key of the shop")
    await layover.register({**flow(HOOK), "secrets": ["KEY"]})
    trigger = await layover.trigger("tick/paid")
    old = {"stripe-signature": "t=1767225000,v1=00"}
    with pytest.raises(NotAllowed):
        await layover.hook("paid", {"id": "evt_1"}, headers=old)
    text = "The last refused delivery: wrong signature; the clock of its sender was -600 s off."
    assert await reasons(trigger) == {"refused_delivery": text}


async def test_the_backlog(layover: Layover) -> None:
    await layover.register(flow({"name": "sent", "type": "signal", "signal": "s"}))
    trigger = await layover.trigger("tick/sent")
    await trigger.pause()
    for n in range(3):
        await layover.signal("s", {"n": n})
    assert (await reasons(trigger))["pending"] == "3 inputs are pending."
