"""What the executions of a list wait for, kept for as long as they stay where they are.

What an execution waits for follows from its log and from the commands that were sent to it: it is the same while
neither has grown. A console, a `watch` or a dashboard reads the same list again and again: only executions that went
on meanwhile are read anew. An entry is never older than its key: the row is read first, then what belongs to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.runtime.results.waiting import ListRest, waiting_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.model.executions import Execution
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow, Standing

_MOST: Final = 2_000  # that are kept: a few long pages


class WaitingSummaries:
    """Reads where executions rest that have not ended."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[str, tuple[tuple[int, int, int | None], ListRest]] = {}

    async def of_rows(self, rows: Sequence[ExecutionRow]) -> dict[str, ListRest]:
        """Return where those of a list rest."""
        rests: dict[str, ListRest] = {}
        moved: list[ExecutionRow] = []
        for row in rows:
            if row.closed is not None:
                continue
            kept = self._kept.get(row.head.execution_id)
            if kept is not None and kept[0] == _key(row):
                rests[row.head.execution_id] = kept[1]
            else:
                moved.append(row)
        for row, standing in zip(moved, await self._read([row.head.execution_id for row in moved]), strict=True):
            if standing is not None:
                head = row.head
                rest = ListRest(standing.updated_at, waiting_of(head.status, head.wake_at, standing))
                rests[head.execution_id] = rest
                self._keep(head.execution_id, _key(row), rest)
        return rests

    async def of_executions(self, executions: Sequence[Execution]) -> dict[str, ListRest]:
        """Return where executions rest whose rows are not at hand."""
        found = zip(executions, await self._read([one.id for one in executions]), strict=True)
        return {
            one.id: ListRest(standing.updated_at, waiting_of(one.status, None, standing))
            for one, standing in found
            if standing is not None
        }

    async def _read(self, ids: Sequence[str]) -> Sequence[Standing | None]:
        return await self._store.queries.read_standings(ids) if ids else []

    def _keep(self, id_: str, key: tuple[int, int, int | None], rest: ListRest) -> None:
        self._kept.pop(id_, None)
        if len(self._kept) >= _MOST:
            del self._kept[next(iter(self._kept))]
        self._kept[id_] = (key, rest)


def _key(row: ExecutionRow) -> tuple[int, int, int | None]:
    head = row.head
    return (head.last_seq, head.commands_seq, head.wake_at)
