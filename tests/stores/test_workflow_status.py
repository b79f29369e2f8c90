"""How workflows stand: the last note counts, and one that is saved again is no longer deleted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine.answers import Refused
from layover.core.resume_waits import ResumeWait
from layover.ports.access import AuditFilter, WorkflowStatus
from layover.ports.records import Enqueue, Enqueued, Wait
from tests.stores.conformance import ME, create, entry, head, uid

if TYPE_CHECKING:
    from layover.model.workflows import WorkflowState
    from layover.ports.store import Store


def status(workflow: str = "order", state: WorkflowState = "inactive") -> WorkflowStatus:
    return WorkflowStatus(workflow=workflow, state=state, changed_at=5, reason="too much", by="ann")


async def test_the_last_note_is_how_a_workflow_stands(store: Store) -> None:
    assert await store.workflow_status.list_statuses() == []
    await store.workflow_status.set_status(status())
    assert await store.workflow_status.list_statuses() == [status()]
    changed = WorkflowStatus(workflow="order", state="active", changed_at=6)
    await store.workflow_status.set_status(changed)
    assert await store.workflow_status.list_statuses(["order"]) == [changed]


async def test_workflow_statuses_are_read_by_name_and_in_the_order_of_names(store: Store) -> None:
    for name in ("c", "a", "é", "b"):
        await store.workflow_status.set_status(status(name))
    assert [one.workflow for one in await store.workflow_status.list_statuses()] == ["a", "b", "c", "é"]
    assert [one.workflow for one in await store.workflow_status.list_statuses(["é", "a", "none"])] == ["a", "é"]
    assert await store.workflow_status.list_statuses([]) == []


async def test_a_deleted_workflow_that_is_saved_is_active_again(store: Store) -> None:
    await store.definitions.save("order", "h1", b"{}", 50)
    await store.workflow_status.set_status(status(state="deleted"))
    await store.workflow_status.set_status(status("refund", "deleted"))
    await store.definitions.save("order", "h2", b"[]", 60, entry(1, user="bob"))
    revived = WorkflowStatus(workflow="order", state="active", changed_at=60, by="bob")
    assert await store.workflow_status.list_statuses() == [revived, status("refund", "deleted")]


async def test_so_is_one_whose_newest_version_is_saved_once_more(store: Store) -> None:
    await store.definitions.save("order", "h1", b"{}", 50)
    await store.workflow_status.set_status(status(state="deleted"))
    version = await store.definitions.save("order", "h1", b"{}", 60, entry(1))
    assert version.number == 1
    assert await store.workflow_status.list_statuses() == [
        WorkflowStatus(workflow="order", state="active", changed_at=60, by="ann")
    ]
    assert await store.audit.list_entries(AuditFilter()) == [
        entry(1)
    ]  # no version is added, but it is no repetition either
    await store.workflow_status.set_status(status(state="deleted"))
    await store.definitions.save("order", "h1", b"{}", 70)
    assert await store.workflow_status.list_statuses() == [
        WorkflowStatus(workflow="order", state="active", changed_at=70)
    ]


async def test_any_other_workflow_status_stays_when_a_version_is_saved(store: Store) -> None:
    await store.definitions.save("order", "h1", b"{}", 50)
    for state in ("inactive", "paused", "active"):
        kept = replace(status(), state=state)
        await store.workflow_status.set_status(kept)
        await store.definitions.save("order", f"h {state}", b"[]", 60)
        assert await store.workflow_status.list_statuses() == [kept]


async def test_commands_for_a_workflow_status_are_refused_once_another_is_noted(store: Store) -> None:
    await create(store)
    command = Enqueue(execution_id=uid(1), kind="Pause", body=b"{}")
    assert [
        one.code for one in await store.commands.enqueue([command] * 2, 1, status()) if isinstance(one, Refused)
    ] == ["superseded"] * 2
    await store.workflow_status.set_status(status())
    assert await store.commands.enqueue([command], 1, status()) == [Enqueued(n=1, owner=ME)]
    await store.workflow_status.set_status(replace(status(), changed_at=6))
    (refused,) = await store.commands.enqueue([command], 1, status())
    assert isinstance(refused, Refused)
    assert (await head(store)).commands_seq == 1


# Pauses that end by themselves

NIGHT = WorkflowStatus(
    workflow="order",
    state="paused",
    changed_at=5,
    due_at=900,
    resume_on=ResumeWait(signal="open", key="k", filter="signal.data"),
    resume_by="bob",
)


async def test_a_status_is_set_only_if_it_is_as_expected(store: Store) -> None:
    assert not await store.workflow_status.set_status(NIGHT, expected=status())
    assert await store.workflow_status.set_status(NIGHT)
    assert await store.workflow_status.list_statuses(["order"]) == [NIGHT]
    for other in (replace(NIGHT, due_at=901), replace(NIGHT, resume_on=None), replace(NIGHT, changed_at=6)):
        assert not await store.workflow_status.set_status(status(), entry(1), expected=other)
    assert await store.workflow_status.list_statuses(["order"]) == [NIGHT]
    assert await store.audit.list_entries(AuditFilter()) == []
    assert await store.workflow_status.set_status(status(), entry(1), expected=NIGHT)
    assert await store.workflow_status.list_statuses(["order"]) == [status()]


async def test_a_status_is_due_at_its_moment(store: Store) -> None:
    await store.workflow_status.set_status(NIGHT)
    await store.workflow_status.set_status(replace(NIGHT, workflow="refund", due_at=800))
    await store.workflow_status.set_status(status("other"))
    before = await store.triggers.read_due(799, 10)
    assert (before.workflows, before.next_due) == ((), 800)
    between = await store.triggers.read_due(800, 10)
    assert ([one.workflow for one in between.workflows], between.next_due) == (["refund"], 900)
    after = await store.triggers.read_due(900, 10)
    assert ([one.workflow for one in after.workflows], after.next_due) == (["refund", "order"], None)
    assert [one.workflow for one in (await store.triggers.read_due(900, 1)).workflows] == ["refund"]


async def test_a_workflow_that_waits_for_a_signal_is_found_by_it(store: Store) -> None:
    await store.workflow_status.set_status(NIGHT)
    assert await store.signals.list_waits("open", "k") == [Wait(execution_id="", point="", workflow="order")]
    assert await store.signals.list_waits("open", "") == []
    await store.workflow_status.set_status(replace(NIGHT, resume_on=None))
    assert await store.signals.list_waits("open", "k") == []


# Breakpoints


async def test_breakpoints_are_set_read_and_cleared_one_by_one(store: Store) -> None:
    family = store.workflow_status
    assert await family.read_breakpoints() == {}
    await family.set_breakpoint("order", "charge", "look", 7, entry(1))
    await family.set_breakpoint("order", "ship", 'ü"', 8)
    await family.set_breakpoint("order", "charge", "again", 9)
    assert await family.read_breakpoints() == {"order": {"charge": "again", "ship": 'ü"'}}
    (found,) = await family.list_statuses(["order"])
    assert (found.state, found.breakpoints) == ("active", {"charge": "again", "ship": 'ü"'})
    await family.set_breakpoint("order", "charge", None, 10)
    await family.set_breakpoint("order", "nowhere", None, 10)
    await family.set_breakpoint("other", "nowhere", None, 10, entry(2))
    assert await family.read_breakpoints() == {"order": {"ship": 'ü"'}}
    assert [one.workflow for one in await family.list_statuses()] == ["order"]
    assert len(await store.audit.list_entries(AuditFilter())) == 2


async def test_a_status_that_is_set_keeps_the_breakpoints(store: Store) -> None:
    family = store.workflow_status
    await family.set_breakpoint("order", "charge", "look", 7)
    await family.set_status(NIGHT)
    assert await family.list_statuses(["order"]) == [replace(NIGHT, breakpoints={"charge": "look"})]
    assert await family.set_status(status(), expected=replace(NIGHT, breakpoints={"charge": "look"}))
    assert await family.list_statuses(["order"]) == [replace(status(), breakpoints={"charge": "look"})]


async def test_breakpoints_that_are_set_at_once_are_all_there(store: Store) -> None:
    nodes = [f"n{number}" for number in range(8)]
    await asyncio.gather(*(store.workflow_status.set_breakpoint("order", node, "look", 7) for node in nodes))
    assert sorted((await store.workflow_status.read_breakpoints())["order"]) == nodes
