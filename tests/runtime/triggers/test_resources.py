"""Triggers that belong to no definition: made, changed, deleted and taken along by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover import AlreadyExists, Bundle, InvalidDefinition, NotAllowed
from tests.runtime.triggers.test_operations import count, flow, hourly

if TYPE_CHECKING:
    from layover.testing import Layover


async def test_a_trigger_by_itself_starts_the_newest_version_and_outlives_registering(layover: Layover) -> None:
    await layover.register(flow())
    made = await layover.create_trigger("tick", hourly(input={"x": 1}))
    assert (made.managed, made.state, str(made.next_at)) == (False, "active", "2026-01-01T01:00:00.000Z")
    await layover.skip("1h")
    await layover.register({**flow(), "nodes": [{"id": "b", "type": "compute", "output": 2}]})
    await layover.skip("1h")
    found = [one async for one in layover.executions(workflow="tick")]
    assert {one.version for one in found} == {1, 2}
    assert (await layover.execution(found[0].id)).info.user == "trigger:tick/often"


async def test_a_trigger_of_its_own_is_checked_as_one_of_a_definition(layover: Layover) -> None:
    await layover.register({**flow({"name": "sent", "type": "signal", "signal": "tock"}), "secrets": ["KEY"]})
    hook = {"name": "paid", "type": "webhook", "verify": {"scheme": "github", "secret": "OTHER"}}
    for wrong, code, path in (
        (hourly(jitter="soon"), "bad_duration", "$.jitter"),
        (hourly(color="red"), "unknown_field", "$.color"),
        (hourly(filter="nodes.a"), "expression_unknown_name", "$.filter"),
        (hourly(deliver={"signal": "tock"}), "trigger_feeds_itself", "$.deliver"),
        (hook, "undeclared_secret", "$.verify"),
    ):
        with pytest.raises(InvalidDefinition) as refused:
            await layover.create_trigger("tick", wrong)
        assert [(one.code, one.path) for one in refused.value.problems] == [(code, path)]
        in_definition = await layover.check({**flow(wrong), "secrets": ["KEY"]})
        assert code in {one.code for one in in_definition} | {"trigger_feeds_itself"}


async def test_a_source_that_the_engine_does_not_have_is_refused_unless_it_may_be_unknown(layover: Layover) -> None:
    await layover.register(flow())
    poll = {"name": "mail", "type": "poll", "source": "mailbox"}
    with pytest.raises(InvalidDefinition) as refused:
        await layover.create_trigger("tick", poll)
    assert [one.code for one in refused.value.problems] == ["unknown_source"]
    made = await layover.create_trigger("tick", poll, allow_unknown=True)
    assert made.type == "poll"


async def test_a_changed_trigger_goes_on_and_a_deleted_one_starts_nothing(layover: Layover) -> None:
    await layover.register(flow())
    made = await layover.create_trigger("tick", hourly())
    await made.update(hourly(every="2h"))
    assert made.definition["every"] == "2h"
    await layover.skip("2h")
    assert await count(layover) == 1
    await made.delete()
    await layover.skip("10h")
    assert await count(layover) == 1
    assert (await made.refresh()).reason == "removed"
    kinds = [event.type async for event in made.history()]
    assert (kinds[0], kinds[-1]) == ("TriggerRegistered", "TriggerStateChanged")


async def test_a_deleted_workflow_stops_its_triggers(layover: Layover) -> None:
    workflow = await layover.register(flow())
    made = await layover.create_trigger("tick", hourly())
    await workflow.delete()
    await layover.skip("3h")
    assert (await made.refresh()).state == "stopped"
    assert await count(layover) == 0


async def test_a_secret_that_the_workflow_declares_no_more_proves_nothing(layover: Layover) -> None:
    layover.secret("KEY", "the key of the shop")
    await layover.register({**flow(), "secrets": ["KEY"]})
    hook = {"name": "paid", "type": "webhook", "verify": {"scheme": "github", "secret": "KEY"}}
    await layover.create_trigger("tick", hook)
    assert (await layover.hook("paid", {"n": 1})).status == "started"
    await layover.register(flow())
    with pytest.raises(NotAllowed):
        await layover.hook("paid", {"n": 2})


async def test_making_changing_and_deleting_are_audited_and_need_a_permission(layover: Layover) -> None:
    await layover.register(flow())
    admin, operator = layover.as_user("ada", ["admin"]), layover.as_user("olga", ["operator"])
    with pytest.raises(NotAllowed):
        await operator.create_trigger("tick", hourly())
    made = await admin.create_trigger("tick", hourly())
    theirs = await operator.trigger("tick/often")
    with pytest.raises(NotAllowed):
        await theirs.update(hourly())
    with pytest.raises(NotAllowed):
        await theirs.delete()
    with pytest.raises(NotAllowed):
        await theirs.rotate_token()
    await made.update(hourly(every="2h"))
    await made.delete()
    acts = [(entry.user, entry.act) async for entry in admin.audit(target=made.id)]
    assert acts == [("ada", "trigger.delete"), ("ada", "trigger.update"), ("ada", "trigger.create")]


async def test_many_rejected_inputs_are_replayed_page_by_page(layover: Layover) -> None:
    await layover.register(flow(hourly(input="${trigger.data.y}")))
    trigger = await layover.trigger("tick/often")
    for n in range(5):
        await trigger.fire({"x": n}, id=f"i{n}")
    await layover.register(flow(hourly(input="${trigger.data.x}", overlap="allow")))
    first = await trigger.replay_all(limit=3)
    assert (first.replayed, first.next is None, await count(layover)) == (3, False, 3)
    second = await trigger.replay_all(limit=3, cursor=first.next)
    assert (second.replayed, second.next, await count(layover)) == (2, None, 5)
    assert (await trigger.replay_all()).replayed == 0


async def test_an_export_takes_triggers_along_that_belong_to_no_definition(layover: Layover) -> None:
    await layover.register(flow())
    made = await layover.create_trigger("tick", hourly())
    bundle = await layover.export_workflows("tick")
    assert bundle.triggers == ({"workflow": "tick", **hourly()},)
    await made.delete()
    await layover.import_workflows(bundle)
    assert (await made.refresh()).state == "active"
    await made.update(hourly(every="2h"))
    await layover.import_workflows(bundle)
    assert (await made.refresh()).definition["every"] == "1h"
    taken = {"workflow": "tick", "name": "taken", "type": "schedule", "every": "1h"}
    other = Bundle(workflows=(flow(hourly(name="taken")),), triggers=(taken,))
    with pytest.raises(AlreadyExists):
        await layover.import_workflows(other)
