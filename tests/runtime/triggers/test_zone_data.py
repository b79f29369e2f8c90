"""Zone data that change under a stored row: an instance that knows less leaves it alone, and no day happens twice."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.ids import trigger_id
from layover.core.schedules import ScheduleCursor, decode_cursor, encode_cursor
from layover.ports.trigger_records import NewEvent, TriggerMove
from layover.runtime.triggers.schedule_claimer import ClaimedOccurrences, ScheduleClaimer
from tests.runtime.harness import HOUR, end, engine_at, flow

if TYPE_CHECKING:
    from layover.ports.trigger_records import TriggerRow
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

NIGHTLY = trigger_id("flow", "nightly")
SCHEDULE = {"name": "nightly", "type": "schedule", "cron": "30 2 * * *", "zone": "Europe/Berlin"}


async def with_cursor(engine: Runtime, cursor: ScheduleCursor) -> TriggerRow:
    """Return a schedule that is where another instance has moved it."""
    row = await engine.triggers.find(NIGHTLY)
    move = TriggerMove(
        trigger_id=row.id,
        expected_seq=row.seq,
        at=engine.instance.clock.now(),
        state="active",
        reason="",
        next_at=row.next_at,
        cursor=encode_cursor(cursor),
        events=(NewEvent(kind="TriggerCursorAdvanced", body=b"{}"),),
    )
    assert await engine.instance.store.triggers.move(move)
    return await engine.triggers.find(NIGHTLY)


async def test_an_instance_with_older_zone_data_leaves_a_schedule_alone(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end("done"), triggers=[SCHEDULE]))
        known = decode_cursor((await engine.triggers.find(NIGHTLY)).cursor)
        row = await with_cursor(engine, replace(known, zone_data="9999z"))
        claimer = ScheduleClaimer(engine.instance.store, engine.instance.plans)
        assert row.next_at is not None
        assert await claimer.claim(row, row.next_at + HOUR) == ClaimedOccurrences()
        assert await engine.triggers.find(NIGHTLY) == row
        older = await with_cursor(engine, replace(known, zone_data="2020a"))  # that one it may move
        claimed = await claimer.claim(older, row.next_at + HOUR)
        assert [one.at for one in claimed.inputs] == [row.next_at]


async def test_newer_zone_data_do_not_repeat_a_day(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end("done"), triggers=[SCHEDULE]))
        # By the data of the instance that moved it, Berlin was an hour further east: that night has happened.
        night = 1_772_325_000_000  # 2026-03-01T00:30Z
        row = await with_cursor(engine, ScheduleCursor(at=night, wall=night + 2 * HOUR, zone_data="2020a"))
        claimer = ScheduleClaimer(engine.instance.store, engine.instance.plans)
        claimed = await claimer.claim(row, night + 2 * HOUR)  # by the instant alone, 01:30 UTC would be one more
        assert claimed.inputs == ()
        assert (await engine.triggers.find(NIGHTLY)).next_at == night + 25 * HOUR
