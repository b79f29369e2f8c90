"""How workflows stand: the last note counts, and one that is saved again is no longer deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine.answers import Refused
from layover.ports.access import AuditFilter, Standing
from layover.ports.records import Enqueue, Enqueued
from tests.stores.conformance import ME, create, entry, head, uid

if TYPE_CHECKING:
    from layover.ports.access import WorkflowState
    from layover.ports.store import Store


def standing(workflow: str = "order", state: WorkflowState = "inactive") -> Standing:
    return Standing(workflow=workflow, state=state, changed_at=5, reason="too much", by="ann")


async def test_the_last_note_is_how_a_workflow_stands(store: Store) -> None:
    assert await store.standings() == []
    await store.set_standing(standing())
    assert await store.standings() == [standing()]
    changed = Standing(workflow="order", state="active", changed_at=6)
    await store.set_standing(changed)
    assert await store.standings(["order"]) == [changed]


async def test_standings_are_read_by_name_and_in_the_order_of_names(store: Store) -> None:
    for name in ("c", "a", "é", "b"):
        await store.set_standing(standing(name))
    assert [one.workflow for one in await store.standings()] == ["a", "b", "c", "é"]
    assert [one.workflow for one in await store.standings(["é", "a", "none"])] == ["a", "é"]
    assert await store.standings([]) == []


async def test_a_deleted_workflow_that_is_saved_is_active_again(store: Store) -> None:
    await store.save_version("order", "h1", b"{}", 50)
    await store.set_standing(standing(state="deleted"))
    await store.set_standing(standing("refund", "deleted"))
    await store.save_version("order", "h2", b"[]", 60, entry(1, user="bob"))
    revived = Standing(workflow="order", state="active", changed_at=60, by="bob")
    assert await store.standings() == [revived, standing("refund", "deleted")]


async def test_so_is_one_whose_newest_version_is_saved_once_more(store: Store) -> None:
    await store.save_version("order", "h1", b"{}", 50)
    await store.set_standing(standing(state="deleted"))
    version = await store.save_version("order", "h1", b"{}", 60, entry(1))
    assert version.number == 1
    assert await store.standings() == [Standing(workflow="order", state="active", changed_at=60, by="ann")]
    assert await store.audit(AuditFilter()) == [entry(1)]  # no version is added, but it is no repetition either
    await store.set_standing(standing(state="deleted"))
    await store.save_version("order", "h1", b"{}", 70)
    assert await store.standings() == [Standing(workflow="order", state="active", changed_at=70)]


async def test_any_other_standing_stays_when_a_version_is_saved(store: Store) -> None:
    await store.save_version("order", "h1", b"{}", 50)
    for state in ("inactive", "paused", "active"):
        kept = replace(standing(), state=state)
        await store.set_standing(kept)
        await store.save_version("order", f"h {state}", b"[]", 60)
        assert await store.standings() == [kept]


async def test_commands_for_a_standing_are_refused_once_another_is_noted(store: Store) -> None:
    await create(store)
    command = Enqueue(execution_id=uid(1), kind="Pause", body=b"{}")
    assert [one.code for one in await store.enqueue([command] * 2, 1, standing()) if isinstance(one, Refused)] == [
        "superseded"
    ] * 2
    await store.set_standing(standing())
    assert await store.enqueue([command], 1, standing()) == [Enqueued(n=1, owner=ME)]
    await store.set_standing(replace(standing(), changed_at=6))
    (refused,) = await store.enqueue([command], 1, standing())
    assert isinstance(refused, Refused)
    assert (await head(store)).commands_seq == 1
