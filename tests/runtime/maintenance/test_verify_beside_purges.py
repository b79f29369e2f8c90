"""The checker goes through many executions, and what it has listed may end and be purged before its turn comes."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

from layover.runtime.maintenance.verify import violations
from layover.stores.sqlite import SqliteStore
from layover.stores.sqlite.queries import SqliteQueries
from tests.runtime.harness import engine_at, flow, form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.view_records import Loaded
    from layover.runtime.runtime import Runtime
    from layover.stores.sqlite.session import SqliteSession


class _InBetween(SqliteStore):
    """A store beside which everything ends, and is purged, as soon as it is listed and one of it is read."""

    def __init__(self, path: Path, engine: Runtime) -> None:
        super().__init__(path)
        self.queries = _QueriesInBetween(self._session, engine)


class _QueriesInBetween(SqliteQueries):
    def __init__(self, session: SqliteSession, engine: Runtime) -> None:
        super().__init__(session)
        self._engine = engine

    async def load(self, execution_ids: Sequence[str]) -> list[Loaded | None]:
        for row in await self._engine.lists.list(status=["paused"]):
            await self._engine.control.cancel(row.head.execution_id)
            assert await self._engine.instance.store.retention.purge([row.head.execution_id])
        return await super().load(execution_ids)


async def test_what_was_open_when_it_was_listed_may_be_gone(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        for _ in range(3):
            await engine.executions.start("flow", wait="rest")
        store = _InBetween(tmp_path / "layover.db", engine)
        await store.open_to_read()
        try:
            assert await violations(store) == []
        finally:
            await store.close()
        assert not await engine.lists.list()
