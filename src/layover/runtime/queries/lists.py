"""Lists of executions: those that fit a filter, those that are paused, and how many there are."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final, cast

from msgspec.structs import replace

from layover.errors import LayoverError
from layover.ports.errors import StoreUnavailable
from layover.ports.view_records import ExecutionFilter, PausedFilter
from layover.runtime.execution.replay import batches
from layover.runtime.ids import checked_id
from layover.runtime.queries.search import find
from layover.runtime.queries.trigger_cursors import with_trigger_cursors
from layover.runtime.queries.views import view_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from layover.core.engine.state import ExecutionStatus
    from layover.model.executions import Execution
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.instance import Instance
    from layover.runtime.queries.search import SearchPage

_log = logging.getLogger("layover")
_ALL: Final = ExecutionFilter()


class ExecutionLists:
    """Lists of executions; none changes anything."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def list(  # noqa: PLR0913 - each is named where it is given
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        where: Mapping[str, object] | None = None,
        conditions: Sequence[str] = (),
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[ExecutionRow]:
        """Return executions, newest first; `after` goes on behind one that was seen: its `created_at` and id.

        With `where`, only those whose input contains it: every member of an object, every element of an array. With
        `conditions` such as `output.total>=12`, only those that fulfil all of them, however long it takes to find them.
        """
        wanted = ExecutionFilter(workflow=workflow, status=tuple(status), tag=tag, after=after, limit=limit)
        found = await find(self._instance, wanted, where, conditions)
        rows = [*found.rows]
        while found.after is not None and len(rows) < limit:
            wanted = replace(wanted, after=found.after, limit=limit - len(rows))
            found = await find(self._instance, wanted, where, conditions)
            rows += found.rows
        return rows

    async def find(
        self,
        wanted: ExecutionFilter = _ALL,
        where: Mapping[str, object] | None = None,
        conditions: Sequence[str] = (),
        node_type: str | None = None,
    ) -> SearchPage:
        """Return executions as `list` does, but look only for so long: there may be fewer of them, or none.

        What is found says where to go on; if it does not, nothing is left. With a `node_type`, their graph has a node
        of that type.
        """
        if wanted.parent_id is not None:
            wanted = replace(wanted, parent_id=checked_id(wanted.parent_id))
        if node_type is not None:
            hashes = await self._instance.node_index.hashes_with(wanted.workflow, node_type=node_type)
            wanted = replace(wanted, hashes=hashes)
        return await find(self._instance, wanted, where, conditions)

    async def paused(
        self, workflow: str | None = None, after: tuple[int, str] | None = None, limit: int = 50
    ) -> Sequence[Execution]:
        """Return executions that are paused, for an operator or for a person, the one paused longest first.

        `after` goes on behind one that was seen: its `paused_at` and id.
        """
        found: dict[str, Execution] = {}
        while len(found) < limit:
            wanted = PausedFilter(workflow=workflow, after=after, limit=limit - len(found))
            rows = await self._instance.store.queries.list_paused(wanted)
            async for one in self._still_paused(rows):
                found.setdefault(one.id, one)  # it may have gone on and come back behind the others
            if len(rows) < wanted.limit:
                break
            after = (rows[-1].head.paused_at or 0, rows[-1].head.execution_id)
        return list(found.values())

    async def _still_paused(self, rows: Sequence[ExecutionRow]) -> AsyncIterator[Execution]:
        """Read executions that were listed as paused; one that has gone on since stands elsewhere, if anywhere."""
        instance = self._instance
        for batch in batches(rows):
            states = await instance.store.queries.load([row.head.execution_id for row in batch])
            for row, loaded in zip(batch, states, strict=True):
                if loaded is None or loaded.head.status != "paused" or loaded.head.paused_at != row.head.paused_at:
                    continue
                try:
                    cached = await instance.driver.state_of(loaded)
                except StoreUnavailable:
                    raise
                except LayoverError as error:  # one log that cannot be read must not hide the others
                    _log.exception("load_failed execution=%s error=%s", row.head.execution_id, error.message)
                    continue
                yield await with_trigger_cursors(view_of(loaded, cached), instance.store.triggers)
                await asyncio.sleep(0)  # whatever else is to be done is not held up by a hundred logs

    async def counts(self) -> dict[ExecutionStatus, int]:
        """Return how many executions there are, by status."""
        return cast("dict[ExecutionStatus, int]", await self._instance.store.queries.count_by_status())
