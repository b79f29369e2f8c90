"""A cache of nodes, legs and resumes derived from logs: the next page of a long list need not read the log again."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, NamedTuple

from layover.core.engine import events as ev
from layover.runtime.execution.replay import slices_of, version_of
from layover.runtime.queries.node_executions import Telling
from layover.runtime.queries.resumes import ResumeReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.plan import Plan
    from layover.ports.records import Entry
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.execution.replay import Versions
    from layover.runtime.queries.node_executions import NodeDraft
    from layover.runtime.queries.resumes import ResumeDraft

_READERS: Final = 2  # of long logs at a time: each takes its slices of the event loop
_LONG: Final = 1_000  # events
# What a view takes of memory, twice as much as was measured: so much for an event, so many times the log's bytes.
_PER_EVENT: Final = 100
_PER_BYTE: Final = 3


class LogView(NamedTuple):
    """The nodes, legs and resumes of a log up to its event `last_seq`, which was written in `last_epoch`."""

    nodes: list[NodeDraft]
    around: list[tuple[int, int, ev.AnyEvent]]  # the events that tell of legs
    resumes: list[ResumeDraft]
    closed: frozenset[str]  # points of people that were closed, and whose answer is not in the log, if any
    last_at: int
    last_seq: int
    last_epoch: int
    memory: int


class LogViews:
    """Reads logs, and caches the most recently used views, up to a number of bytes."""

    def __init__(self, store: Store, most: int) -> None:
        self._store = store
        self._most = most
        self._kept: OrderedDict[str, LogView] = OrderedDict()
        self._memory = 0
        self._turns = asyncio.Semaphore(_READERS)

    async def of(self, row: ExecutionRow, plans: Versions) -> LogView:
        """Return what the log of an execution tells, as it was when its row was read; it must not be changed."""
        head = row.head
        known = self._kept.get(head.execution_id)
        if known is not None and (known.last_seq, known.last_epoch) == (head.last_seq, head.last_epoch):
            self._kept.move_to_end(head.execution_id)
            return known
        async with self._turns if head.last_seq > _LONG else nullcontext():
            view = await self.read(row, plans)
        self._cache(head.execution_id, view)
        return view

    async def read(self, row: ExecutionRow, plans: Versions, known: Sequence[Entry] = ()) -> LogView:
        """Read what the log of an execution tells, without the cache; the first of its entries may be known."""
        telling: Telling | None = None
        resumes = ResumeReader(sequential=False)
        around: list[tuple[int, int, ev.AnyEvent]] = []
        last: tuple[int, int, ev.AnyEvent] | None = None
        size = 0
        async for events, read in slices_of(self._store, row, known):
            size += read
            if telling is None:
                plan = await plans.of(version_of(events[0][2]) or row.info.hash)
                telling, resumes = Telling(plan), ResumeReader(sequential=_is_sequential(plan))
            for seq, at, event in events:
                if type(event) is ev.ExecutionMoved:
                    plan = await plans.of(event.hash)
                    telling.move(plan, event.names)
                    resumes.sequential = _is_sequential(plan)
                telling.take(at, event)
                resumes.take(seq, at, event, telling.nodes)
                if type(event) in _OF_LEGS:
                    around.append((seq, at, event))
            last = events[-1]
        if last is not None and (not around or around[-1][0] < last[0]):
            around.append(last)
        head = row.head
        nodes = list(telling.nodes.values()) if telling is not None else []
        memory = _PER_EVENT * (head.last_seq + 1) + _PER_BYTE * size
        last_at = last[1] if last is not None else row.info.created_at
        found, closed = [*resumes.resumes.values()], frozenset(resumes.closed)
        return LogView(nodes, around, found, closed, last_at, head.last_seq, head.last_epoch, memory)

    def _cache(self, execution_id: str, view: LogView) -> None:
        self._drop(execution_id)
        self._kept[execution_id] = view
        self._memory += view.memory
        while self._memory > self._most and self._kept:
            self._drop(next(iter(self._kept)))

    def _drop(self, execution_id: str) -> None:
        dropped = self._kept.pop(execution_id, None)
        if dropped is not None:
            self._memory -= dropped.memory


_OF_LEGS: Final = frozenset(
    {ev.LegStarted, ev.ExecutionReopened, ev.ExecutionCompleted, ev.ExecutionFailed, ev.ExecutionCancelled}
)


def _is_sequential(plan: Plan) -> bool:
    return plan.definition.settings.resume == "sequential"
