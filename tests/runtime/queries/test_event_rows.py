"""The view `event_rows`: one row for each event, for tools that read the database themselves."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any, get_args
from uuid import UUID

import apsw
import asyncpg
import msgspec
import pytest

from layover.core.engine import events as ev
from layover.core.engine.codec import encode_events
from layover.stores.postgres.address import read_address
from layover.stores.postgres.statements import in_schema
from tests.runtime.harness import address_in, call, end, engine_at, flow, form

Row = tuple[str, int, int, str, str | None, object]


async def _rows(address: str, execution: str) -> list[Row]:
    if address.startswith("sqlite"):
        path = address.removeprefix("sqlite:///")
        statement = (
            "SELECT execution_id, seq, at, type, node, payload FROM event_rows WHERE execution_key = ? ORDER BY seq"
        )
        file = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        found: list[tuple[Any, ...]] = [*file.execute(statement, (UUID(execution).bytes,))]
    else:
        place = read_address(address)
        db = await asyncpg.connect(place.dsn)
        statement = (
            "SELECT execution_id::text, seq, at, type, node, payload::text FROM layover.event_rows "
            "WHERE execution_id = $1 ORDER BY seq"
        )
        try:
            found = [tuple(row) for row in await db.fetch(in_schema(statement, place.schema), UUID(execution))]
        finally:
            await db.close()
    return [(id_, seq, at, type_, node, msgspec.json.decode(body)) for id_, seq, at, type_, node, body in found]


def test_the_node_is_the_first_member_of_every_event_that_has_one() -> None:
    kinds = [kind.__struct_encode_fields__ for kind in get_args(ev.AnyEvent)]
    assert {fields[0] for fields in kinds if "n" in fields} == {"n"}


@pytest.mark.usefixtures("each_database")
async def test_the_view_has_a_row_for_each_event(tmp_path: Path) -> None:
    async def work() -> str:
        return "a\u0000b"

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("work"), form("ask"), end(1)))
        started = await engine.executions.start("flow", {"ü": 1}, wait="rest")
        history = await engine.queries.history(started.id)
    found = await _rows(address_in(tmp_path), started.id)
    assert [(id_, seq, at) for id_, seq, at, *_ in found] == [(started.id, one.seq, one.at) for one in history]
    payloads = [msgspec.json.decode(encode_events([one.event]))[0] for one in history]
    assert [payload for *_, payload in found] == payloads
    assert [(type_, node) for *_, type_, node, _ in found] == [(one["t"], one.get("n")) for one in payloads]
