"""How workflows stand: the last note counts, and one that is saved again is no longer deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine.answers import Refused
from layover.ports.access import AuditFilter, WorkflowStatus
from layover.ports.records import Enqueue, Enqueued
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
