"""How far a trigger is: in its log, and on the executions that it has started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from layover import Batch, Client, Item, source
from tests.api.harness import ADMIN_KEY, listening
from tests.runtime.harness import Between, engine_on

if TYPE_CHECKING:
    from pathlib import Path

    from layover.ports.store import Store
    from layover.ports.trigger_records import TriggerRow
    from layover.testing import Layover

NODES = [{"id": "a", "type": "end", "output": "${input}"}]
POLL = {"name": "mail", "type": "poll", "source": "mailbox", "every": "1m"}


def flow(*triggers: dict[str, Any], name: str = "post") -> dict[str, Any]:
    return {"name": name, "nodes": NODES, "triggers": list(triggers)}


async def received(layover: Layover, name: str) -> list[object]:
    """Return the cursors with which inputs came."""
    events = [one async for one in (await layover.trigger(name)).history()]
    return [one.data.get("cursor") for one in events if one.type == "TriggerInputReceived"]


async def test_an_execution_shows_how_far_the_poll_is_that_started_it(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    mailbox.push("first")
    await layover.register(flow(POLL))
    await layover.settle()
    (one,) = await layover.executions(workflow="post").all()
    first = await layover.execution(one.id)
    assert first.trigger_cursors == {"mail": "1"}
    mailbox.push("second", "third")
    await layover.skip("1m")
    assert (await first.refresh()).trigger_cursors == {"mail": "3"}
    assert await received(layover, "post/mail") == ["1", "3", "3"]


async def test_an_input_has_the_cursor_that_stays(layover: Layover) -> None:
    @source
    def mailbox(cursor: str | None) -> Batch:
        return Batch([Item("one")], cursor="c1") if cursor is None else Batch([Item("two")])

    layover.nodes(mailbox)
    await layover.register(flow(POLL))
    await layover.skip("1m")
    assert await received(layover, "post/mail") == ["c1", "c1"]


async def test_an_execution_shows_the_last_occurrence_of_its_schedule(layover: Layover) -> None:
    await layover.register(flow({"name": "hourly", "type": "schedule", "cron": "0 * * * *"}))
    await layover.skip("90m")
    (one,) = await layover.executions(workflow="post").all()
    assert (await layover.execution(one.id)).trigger_cursors == {"hourly": "2026-01-01T01:00:00.000Z"}
    assert await received(layover, "post/hourly") == ["2026-01-01T01:00:00.000Z"]


async def test_what_no_poll_and_no_schedule_has_started_has_no_cursors(layover: Layover) -> None:
    mailbox = layover.source("mailbox")
    mailbox.push("first")
    await layover.register(flow(POLL, {"name": "hook", "type": "webhook", "verify": {"scheme": "none"}}))
    await layover.settle()
    receipt = await layover.hook("hook", 1)
    assert receipt.execution_id is not None
    polled = (await layover.trigger("post/mail")).id
    by_hand = await layover.start("post", trigger={"type": "poll", "trigger_id": polled})
    for id_ in (receipt.execution_id, by_hand.id):
        assert (await layover.execution(id_)).trigger_cursors == {}
    assert await received(layover, "post/hook") == [None]


async def test_a_long_cursor_stands_once_behind_the_inputs_of_its_batch(layover: Layover) -> None:
    @source
    def mailbox(cursor: str | None) -> Batch:
        return Batch() if cursor else Batch([Item("a"), Item("b")], cursor="c" * 1_000)

    layover.nodes(mailbox)
    await layover.register(flow(POLL))
    await layover.settle()
    events = [one async for one in (await layover.trigger("post/mail")).history()]
    assert [one.data.get("cursor", "")[:1] for one in events[1:]] == ["", "", "c"]
    (one, _) = await layover.executions(workflow="post").all()
    assert (await layover.execution(one.id)).trigger_cursors == {"mail": "c" * 1_000}


class Counting(Between):
    """A store that counts how often a trigger is looked up."""

    lookups = 0

    async def triggers_find(self, trigger_id: str) -> TriggerRow | None:
        self.lookups += 1
        return await self.store.triggers.find(trigger_id)


async def test_other_executions_read_no_trigger_and_clients_get_the_cursors(tmp_path: Path) -> None:
    @source
    def mailbox(cursor: str | None) -> Batch:
        return Batch([Item("one", 1)], cursor="c1") if cursor is None else Batch()

    store = Counting(tmp_path)
    async with (
        engine_on(cast("Store", store), cast("Any", mailbox)) as engine,
        listening(engine) as api,
        Client(api.url, api_key=ADMIN_KEY) as client,
    ):
        await engine.workflows.register(flow(name="plain"))
        started = await client.start("plain", 1, trigger={"by": "hand"})
        await started.wait()
        assert (await client.execution(started.id)).trigger_cursors == {}
        assert store.lookups == 0
        await engine.workflows.register(flow(POLL))
        while not (found := await client.executions(workflow="post").all()):
            pass
        assert (await client.execution(found[0].id)).trigger_cursors == {"mail": "c1"}
        shown = (await api.get(f"/executions/{found[0].id}")).json
        assert shown["trigger_cursors"] == {"mail": "c1"}
