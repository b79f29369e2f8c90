"""The history checker: it finds nothing in a sound database, and every kind of damage under its own name."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.bootstrap import open_runtime
from layover.core.engine import events as ev
from layover.runtime.maintenance.verify import VerifyProgress, verify, violations
from layover.runtime.runtime import Runtime
from layover.runtime.settings import RuntimeSettings
from layover.stores.memory import MemoryStore
from layover.stores.sqlite import SqliteStore
from tests.runtime.maintenance.verify_scene import WORKFLOWS, Damage, build, echo, named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.runtime.maintenance.verify_scene import Entries

CHAIN, FORM, ASKING, FLAKY, AROUND = (named(name) for name in ("chain", "form", "asking", "flaky", "around"))
HELD, TOLD, DRIVEN = (named(name, "timer") for name in ("held", "told", "driven"))
SNAPSHOT, RESERVED, TIMER, BROKEN, TRYING = (
    *(named(name, "form") for name in ("snapshot", "reserved")),
    *(named(name) for name in ("timer", "broken", "trying")),
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("verify") / "sound.db"
    asyncio.run(build(f"sqlite:///{path}"))
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "copy.db"
    shutil.copy(sound, copy)
    return copy


@pytest.fixture
def damage(path: Path) -> Iterator[Damage]:
    damage = Damage(path)
    yield damage
    damage.close()


async def found(path: Path) -> list[tuple[str, str]]:
    store = SqliteStore(path)
    await store.open_to_read()
    try:
        return [(one.code, one.execution_id) for one in await violations(store)]
    finally:
        await store.close()


async def test_a_sound_database_has_no_violations(path: Path) -> None:
    assert await found(path) == []


async def test_progress_tells_how_much_was_checked(path: Path) -> None:
    store, told = SqliteStore(path), list[VerifyProgress]()
    await store.open_to_read()
    assert [one async for one in verify(store, told.append)] == []
    await store.close()
    assert [one.executions for one in told] == list(range(1, told[-1].total + 1))
    assert told[-1].events > 100
    assert not told[-1].moving


async def test_an_engine_may_go_on_while_it_is_verified(path: Path) -> None:
    async with open_runtime(f"sqlite:///{path}", nodes=[echo]) as engine:
        began = [await engine.executions.start("chain") for _ in range(20)]
        store = SqliteStore(path)
        await store.open_to_read()
        async for violation in verify(store):
            pytest.fail(str(violation))
        await store.close()
        for one in began:
            await engine.executions.result(one.id)


async def test_a_log_of_many_pages_is_read_to_its_end(tmp_path: Path) -> None:
    path, settings = tmp_path / "long.db", RuntimeSettings(snapshot_every=50, snapshot_at_rest=50)
    async with open_runtime(f"sqlite:///{path}", nodes=[echo], settings=settings) as engine:
        await engine.workflows.register(
            "name: long\nnodes: [{id: each, type: loop, times: 300, body: [{id: a, type: echo}], next: nap},"
            " {id: nap, type: delay, duration: 1h}]"
        )
        await engine.executions.start("long", key="long", wait="rest")
    assert await found(path) == []
    damage = Damage(path)
    damage("UPDATE events SET at = at - 100000 WHERE seq > 1200 AND execution_id = :id", of=named("long"))
    damage.close()
    assert await found(path) == [("time_went_back", named("long"))]


async def test_any_store_can_be_verified() -> None:
    store = MemoryStore()
    async with Runtime(store, nodes=[echo]) as engine:
        for name, graph in WORKFLOWS.items():
            await engine.workflows.register(f"name: {name}\nnodes: {graph}\n")
        await engine.executions.start("chain", wait="rest")
        await engine.executions.start("form", wait="rest")
        assert await violations(store) == []


# Damage to rows


STRAY_POINT = """
INSERT INTO pause_points
SELECT 'stray', :id, 'chain', kind, status, opened_at, closed_at, json_set(body, '$.id', 'stray'), schema
FROM pause_points WHERE status = 'open' LIMIT 1
"""
ROWS: list[tuple[str, str, str]] = [
    ("head_status", CHAIN, "UPDATE heads SET status = 'failed' WHERE execution_id = :id"),
    ("head_status", TIMER, "UPDATE heads SET status = 'running' WHERE execution_id = :id"),
    ("epoch_ahead", DRIVEN, "UPDATE heads SET last_epoch = epoch + 1 WHERE execution_id = :id"),
    ("end_row", CHAIN, "UPDATE executions SET finished_at = finished_at + 1 WHERE execution_id = :id"),
    ("end_row", CHAIN, "UPDATE executions SET finished_at = NULL WHERE execution_id = :id"),
    ("end_row", TIMER, "UPDATE executions SET finished_at = 1, outcome = '' WHERE execution_id = :id"),
    ("end_row", CHAIN, "UPDATE executions SET outcome = 'other' WHERE execution_id = :id"),
    ("end_row", BROKEN, "UPDATE executions SET error_code = 'other' WHERE execution_id = :id"),
    ("log_end", CHAIN, "UPDATE heads SET last_seq = last_seq + 1 WHERE execution_id = :id"),
    ("log_end", CHAIN, "UPDATE heads SET last_seq = last_seq - 1 WHERE execution_id = :id"),
    ("log_end", CHAIN, "UPDATE heads SET last_seq = last_seq - 2 WHERE execution_id = :id"),
    ("log_end", CHAIN, "DELETE FROM events WHERE execution_id = :id AND seq = 8"),
    ("log_gap", CHAIN, "DELETE FROM events WHERE execution_id = :id AND seq = 5"),
    ("log_gap", CHAIN, "DELETE FROM events WHERE execution_id = :id AND seq = 0"),
    ("log_count", CHAIN, "UPDATE events SET count = count + 1 WHERE execution_id = :id AND seq = 5"),
    ("log_unreadable", CHAIN, "UPDATE events SET body = x'5b7b7d' WHERE execution_id = :id AND seq = 5"),
    ("log_unreadable", CHAIN, "UPDATE events SET body = '[{\"t\": \"new\"}]' WHERE execution_id = :id AND seq = 5"),
    ("time_went_back", CHAIN, "UPDATE events SET at = at - 100000 WHERE execution_id = :id AND seq = 5"),
    ("time_went_back", CHAIN, "UPDATE executions SET created_at = created_at + 10000 WHERE execution_id = :id"),
    ("identity", CHAIN, "UPDATE executions SET user = 'eve' WHERE execution_id = :id"),
    ("identity", CHAIN, "UPDATE heads SET workflow = 'other' WHERE execution_id = :id"),
    ("wake_wrong", CHAIN, "UPDATE heads SET wake_at = 1 WHERE execution_id = :id"),
    ("wake_wrong", TIMER, "UPDATE heads SET wake_at = NULL WHERE execution_id = :id"),
    ("wake_wrong", TIMER, "UPDATE heads SET wake_at = wake_at + 1 WHERE execution_id = :id"),
    ("wake_wrong", HELD, "UPDATE heads SET wake_at = wake_at - 1 WHERE execution_id = :id"),
    ("wake_wrong", TRYING, "UPDATE heads SET wake_at = NULL WHERE execution_id = :id"),
    ("commands_unheard", TOLD, "UPDATE heads SET wake_at = NULL WHERE execution_id = :id"),
    ("commands_unheard", TOLD, "UPDATE heads SET wake_at = wake_at + 1 WHERE execution_id = :id"),
    ("lease_without_end", DRIVEN, "UPDATE heads SET wake_at = NULL WHERE execution_id = :id"),
    ("commands_gap", TOLD, "UPDATE commands SET n = 2 WHERE execution_id = :id"),
    ("commands_gap", FORM, "DELETE FROM commands WHERE execution_id = :id AND n = 1"),
    ("commands_gap", CHAIN, "INSERT INTO commands VALUES (:id, 1, 1, 'Cancel', '{}', 'x', 0)"),
    ("commands_count", HELD, "UPDATE heads SET commands_done = 2 WHERE execution_id = :id"),
    ("commands_left", FORM, "UPDATE heads SET commands_done = 1 WHERE execution_id = :id"),
    ("command_unreadable", HELD, "UPDATE commands SET kind = 'Dance' WHERE execution_id = :id"),
    ("command_unreadable", HELD, "UPDATE commands SET body = x'00' WHERE execution_id = :id"),
    ("point_missing", ASKING, "DELETE FROM pause_points WHERE execution_id = :id"),
    ("point_missing", FORM, "DELETE FROM pause_points WHERE execution_id = :id AND body ->> 'node' = 'ask'"),
    ("point_row", ASKING, "UPDATE pause_points SET status = 'answered' WHERE execution_id = :id"),
    ("point_row", ASKING, "UPDATE pause_points SET status = 'applied', closed_at = 1 WHERE execution_id = :id"),
    ("point_row", ASKING, "UPDATE pause_points SET body = json_remove(body, '$.decisions') WHERE execution_id = :id"),
    ("point_row", SNAPSHOT, "UPDATE pause_points SET schema = '{}' WHERE execution_id = :id AND status = 'open'"),
    ("point_row", SNAPSHOT, "UPDATE pause_points SET workflow = 'x' WHERE execution_id = :id AND status = 'open'"),
    ("point_row", RESERVED, "UPDATE pause_points SET status = 'open' WHERE execution_id = :id"),
    ("point_row", SNAPSHOT, "UPDATE pause_points SET status = 'expired' WHERE execution_id = :id AND closed_at > 0"),
    ("point_row", SNAPSHOT, "UPDATE pause_points SET closed_at = 1 WHERE execution_id = :id AND status = 'applied'"),
    ("point_unknown", CHAIN, STRAY_POINT),
    ("unreadable", ASKING, "UPDATE pause_points SET body = x'00' WHERE execution_id = :id"),
    ("unreadable", CHAIN, "UPDATE versions SET document = '{}' WHERE workflow = 'chain'"),
    ("snapshot_unreadable", SNAPSHOT, "UPDATE snapshots SET body = x'00' WHERE execution_id = :id"),
    ("snapshot_unreadable", SNAPSHOT, "UPDATE snapshots SET body = json_set(body, '$.facts.hash', 'other')"),
    ("snapshot_misplaced", SNAPSHOT, "UPDATE snapshots SET seq = seq + 6 WHERE execution_id = :id"),
    ("snapshot_misplaced", SNAPSHOT, "UPDATE snapshots SET seq = 9, body = json_set(body, '$.counts.seq', 5)"),
    ("snapshot_differs", SNAPSHOT, "UPDATE snapshots SET body = json_set(body, '$.facts.legs', 7)"),
    ("snapshot_differs", SNAPSHOT, "UPDATE snapshots SET body = json_set(body, '$.facts.user', 'eve')"),
    ("stray_rows", CHAIN, "DELETE FROM executions WHERE execution_id = :id"),
    ("unknown_version", CHAIN, "UPDATE executions SET version_id = 99 WHERE execution_id = :id"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "of", "statement"), ROWS, ids=[f"{code}-{n}" for n, (code, _, _) in enumerate(ROWS)])
async def test_damaged_rows_are_named(path: Path, damage: Damage, code: str, of: str, statement: str) -> None:
    damage(statement, of=of)
    assert await found(path) == [(code, of)]


# On PostgreSQL a release that does not know the column may have left it as it was.
PAUSED_SINCE: list[tuple[str, str]] = [
    (ASKING, "UPDATE heads SET paused_at = NULL WHERE execution_id = :id"),
    (HELD, "UPDATE heads SET paused_at = NULL WHERE execution_id = :id"),
    (TIMER, "UPDATE heads SET paused_at = 1 WHERE execution_id = :id"),
    (CHAIN, "UPDATE heads SET paused_at = 1 WHERE execution_id = :id"),
]


@pytest.mark.parametrize(("of", "statement"), PAUSED_SINCE)
async def test_what_is_listed_as_paused_is_exactly_what_is(path: Path, damage: Damage, of: str, statement: str) -> None:
    damage(statement, of=of)
    assert await found(path) == [("paused_since", of)]


async def test_what_belongs_to_no_execution_is_named(path: Path, damage: Damage) -> None:
    for table, of in (("executions", FORM), ("heads", FORM)):
        damage(f"DELETE FROM {table} WHERE execution_id = :id", of=of)  # noqa: S608 - names of ours
    assert await found(path) == [("stray_rows", FORM)] * 3  # events, points, commands


async def test_a_snapshot_of_another_release_is_no_violation(path: Path, damage: Damage) -> None:
    damage("UPDATE snapshots SET body = json_set(body, '$.v', 99)")
    assert await found(path) == []


async def test_rows_from_before_points_had_their_round_are_no_violation(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    async with open_runtime(f"sqlite:///{path}") as engine:
        await engine.workflows.register(
            "name: rounds\nnodes: [{id: each, type: loop, times: 2, body: [{id: a, type: form}]}]"
        )
        await engine.executions.start("rounds", wait="rest")
    damage = Damage(path)
    damage("UPDATE pause_points SET body = json_remove(body, '$.round')")
    damage.close()
    assert await found(path) == []


async def test_a_damaged_file_is_named(path: Path, damage: Damage) -> None:
    damage.close()
    _zero_a_page(path)
    assert {code for code, _ in await found(path)} == {"damaged"}


def _zero_a_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    page = content.index(b"execution_reopened") // 4096 * 4096
    content[page] = 0
    path.write_bytes(content)


# Damage to logs: every count is kept right, only what happened is not


def at(number: int, *events: ev.AnyEvent) -> Callable[[Entries], None]:
    """Put events into the last entry, before those at a place counted from its end."""

    def change(entries: Entries) -> None:
        there = entries[-1][1]
        place = len(there) - number
        there[place:place] = list(events)

    return change


def admission_row(entries: Entries, kind: type[ev.DomainEvent]) -> tuple[list[ev.AnyEvent], int]:
    return next((events, n) for _, events in entries for n, event in enumerate(events) if isinstance(event, kind))


def drop(kind: type[ev.DomainEvent]) -> Callable[[Entries], None]:
    def change(entries: Entries) -> None:
        events, n = admission_row(entries, kind)
        del events[n]

    return change


def repeat(kind: type[ev.DomainEvent], *, at_end: bool = False) -> Callable[[Entries], None]:
    def change(entries: Entries) -> None:
        events, n = admission_row(entries, kind)
        entries[-1][1].append(events[n]) if at_end else events.insert(n, events[n])

    return change


def replaced(kind: type[ev.DomainEvent], by: Callable[[ev.AnyEvent], ev.AnyEvent]) -> Callable[[Entries], None]:
    def change(entries: Entries) -> None:
        events, n = admission_row(entries, kind)
        events[n] = by(events[n])

    return change


def changed(kind: type[ev.DomainEvent], **fields: object) -> Callable[[Entries], None]:
    return replaced(kind, lambda event: replace(event, **fields))


def expired(event: ev.AnyEvent) -> ev.AnyEvent:
    assert isinstance(event, ev.PausePointApplied)
    return ev.PausePointExpired(point=event.point)


LEG = ev.LegStarted(cause="woken", instance="x")
OTHER_POINT = ev.PausePointOpened(node="nap", point="new", kind="timer")
LOGS: list[tuple[str, str, Callable[[Entries], None]]] = [
    ("after_end", CHAIN, at(0, LEG)),
    ("after_end", CHAIN, at(0, ev.ExecutionCompleted())),
    ("after_end", FLAKY, drop(ev.ExecutionReopened)),
    ("reopened_open", FLAKY, drop(ev.ExecutionFailed)),
    ("behind_gate", HELD, at(0, ev.NodeScheduled(node="nap", node_type="x", attempt=2))),
    ("behind_gate", HELD, at(1, OTHER_POINT)),
    ("gate_order", HELD, drop(ev.ExecutionPausing)),
    ("gate_order", HELD, repeat(ev.ExecutionPausing)),
    ("gate_order", TIMER, at(0, ev.ExecutionResumed())),
    ("log_beginning", CHAIN, drop(ev.ExecutionCreated)),
    ("log_beginning", CHAIN, repeat(ev.ExecutionCreated)),
    ("log_beginning", CHAIN, repeat(ev.ExecutionStarted)),
    ("identity", CHAIN, changed(ev.ExecutionCreated, id=FORM)),
    ("leg_cause", CHAIN, changed(ev.LegStarted, cause="magic")),
    ("started_unscheduled", CHAIN, drop(ev.NodeScheduled)),
    ("attempt_order", CHAIN, changed(ev.NodeStarted, attempt=2)),
    ("attempt_order", FLAKY, at(2, ev.NodeScheduled(node="a", node_type="flaky", attempt=2))),
    ("ran_again", CHAIN, at(1, ev.NodeScheduled(node="a", node_type="echo", attempt=2))),
    ("ran_again", CHAIN, at(1, ev.NodeStarted(node="b", attempt=1))),
    ("point_twice", SNAPSHOT, repeat(ev.PausePointOpened, at_end=True)),
    ("point_not_open", ASKING, at(0, ev.PausePointApplied(point="none"))),
    ("point_not_open", FORM, drop(ev.PausePointAnswered)),
    ("answered_twice", FORM, repeat(ev.PausePointAnswered)),
    ("answered_twice", FORM, replaced(ev.PausePointApplied, expired)),
    ("points_left_open", TIMER, at(0, ev.ExecutionCancelled())),
    ("scope_twice", AROUND, repeat(ev.ScopeOpened)),
    ("scope_twice", AROUND, at(0, ev.ScopeOpened(node="both", key="l"))),
    ("scope_order", AROUND, repeat(ev.ScopeClosed)),
    ("scope_order", AROUND, at(0, ev.ScopeClosed(node="both", key="r"))),
    ("scope_order", AROUND, at(0, ev.ScopeOpened(node="each", key=2))),
    ("scope_order", AROUND, at(0, ev.ScopeReopened(node="both", key="l"))),
    ("illegal_transition", CHAIN, drop(ev.NodeStarted)),
    ("illegal_transition", TIMER, at(0, ev.NodeCompleted(node="nap"))),
    ("call_not_out", CHAIN, at(1, ev.NodeCheckpointed(node="a", data=1))),
    ("log_impossible", CHAIN, at(1, ev.VariableSet(scope="gone.1", values={}))),
]


@pytest.mark.parametrize(("code", "of_", "edit"), LOGS, ids=[f"{code}-{n}" for n, (code, _, _) in enumerate(LOGS)])
async def test_logs_that_cannot_have_happened_are_named(
    path: Path, damage: Damage, code: str, of_: str, edit: Callable[[Entries], None]
) -> None:
    damage.edit(of_, edit)
    assert await found(path) == [(code, of_)]


async def test_an_execution_that_stands_still_without_a_reason_is_named(path: Path, damage: Damage) -> None:
    damage.edit(CHAIN, drop(ev.ExecutionCompleted))
    damage("UPDATE executions SET finished_at = NULL WHERE execution_id = :id", of=CHAIN)
    damage("UPDATE heads SET status = 'waiting' WHERE execution_id = :id", of=CHAIN)
    assert await found(path) == [("stillness", CHAIN)]


async def test_work_that_no_instance_can_claim_is_named(path: Path, damage: Damage) -> None:
    def stop_early(entries: Entries) -> None:
        entries.pop()

    damage.edit(CHAIN, stop_early)
    damage("UPDATE executions SET finished_at = NULL WHERE execution_id = :id", of=CHAIN)
    damage("UPDATE heads SET status = 'running' WHERE execution_id = :id", of=CHAIN)
    assert await found(path) == [("stillness", CHAIN)]
    damage("UPDATE heads SET wake_at = 1 WHERE execution_id = :id", of=CHAIN)
    assert await found(path) == []
