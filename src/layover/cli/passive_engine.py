"""An engine that drives nothing: it looks, and writes down what it is asked for whoever drives.

A command of an operator is over in a moment, so it takes up no work: what it has written is durable, and an instance
that is running takes it at its next step, which is waited for up to ten seconds. Only what is closed is opened again
here, because that cannot wait in a queue; nothing of it is started, it is given back at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from layover.nodes.registry import Registry
from layover.ports.records import CLOSED, PointFilter
from layover.runtime.clock import Clock
from layover.runtime.instance import Instance
from layover.runtime.machine import Machine
from layover.runtime.operations.callbacks import Callbacks
from layover.runtime.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from layover.core.engine.commands import Retry, Rewind
    from layover.ports.records import Head, PointRow
    from layover.ports.store import Inspectable
    from layover.runtime.execution.state_cache import CachedState
    from layover.runtime.operations.control import Act
    from layover.runtime.queries.views import Execution


class PassiveEngine(Callbacks):
    """What the command line asks of a database, open from `async with` to its end."""

    def __init__(self, store: Inspectable, *, acts: bool) -> None:
        self._store = store
        self._acts = acts
        self.is_applied = False  # what was asked last

    async def __aenter__(self) -> Self:
        machine = Machine()
        clock = Clock(machine.running)
        instance = Instance(self._store, Registry(), Settings(executions=0), clock, machine)
        await self._store.open_to_read()  # a file that is not there is not made, and an old one is not changed
        if self._acts:
            await self._store.close()
            await self._store.open(instance.id)
        await clock.ask(self._store)
        self._running = instance
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        instance, self._running = self.instance, None
        try:
            instance.driver.stop()
            await instance.node_runner.stop(0)
            await instance.committer.stop()
            await instance.driver.release_all()
        finally:
            await self._store.close()

    async def point(self, point_id: str) -> PointRow | None:
        """Find a pause point, be it closed."""
        return await self._store.point(point_id)

    async def open_points(self) -> Sequence[PointRow]:
        """Return all pause points that are open, the oldest first."""
        found: list[PointRow] = []
        page = await self._store.points(PointFilter(status=("open",)))
        while page:
            found += page
            after = (page[-1].point.opened_at, page[-1].point.id)
            page = await self._store.points(PointFilter(status=("open",), after=after))
        return found

    async def now(self) -> int:
        """Return the time of the database."""
        return await self._store.now()

    async def _until_taken(self, execution_id: str, n: int, act: Act) -> None:
        """Wait for an instance that is running; without one, nobody would apply it."""
        self.is_applied = False
        if not await self._store.others():
            return
        await super()._until_taken(execution_id, n, act)
        row = await self._store.get(execution_id)
        self.is_applied = row is not None and (row.head.commands_done >= n or row.head.status in CLOSED)

    async def _reopen(self, head: Head, cached: CachedState, command: Retry | Rewind, act: Act) -> Execution:
        """Open a closed execution again, and start nothing of it."""
        self.instance.driver.stop()
        return await super()._reopen(head, cached, command, act)
