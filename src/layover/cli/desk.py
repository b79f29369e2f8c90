"""An engine that drives nothing: it looks, and writes down what it is asked for whoever drives.

A command of an operator is over in a moment, so it takes up no work: what it has written is durable, and an instance
that is running takes it at its next step. Only what is closed is opened again here, because that cannot wait in a
queue; nothing of it is started, it is given back at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from layover.core.engine.answers import Refused
from layover.core.engine.command_codec import encode_command
from layover.nodes.registry import Registry
from layover.ports.records import Enqueue, PointFilter
from layover.runtime.clock import Clock
from layover.runtime.errors import UnknownExecution, WrongState
from layover.runtime.ids import checked_id
from layover.runtime.instance import Instance
from layover.runtime.outside import Outside
from layover.runtime.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from layover.core.engine.commands import AnyCommand
    from layover.core.plan import Plan
    from layover.ports.records import Head, PointRow, Version
    from layover.ports.store import Inspectable
    from layover.runtime.cache import Kept
    from layover.runtime.views import Execution


class Desk(Outside):
    """What the command line asks of a database, open from `async with` to its end."""

    def __init__(self, store: Inspectable, *, acts: bool) -> None:
        self._store = store
        self._acts = acts

    async def __aenter__(self) -> Self:
        clock = Clock()
        instance = Instance(self._store, Registry(), Settings(executions=0), clock)
        await self._store.open_to_read()  # a file that is not there is not made, and an old one is not changed
        if self._acts:
            await self._store.close()
            await self._store.open(instance.id)
        clock.set(await self._store.now())
        self._running = instance
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        instance, self._running = self.instance, None
        try:
            instance.driver.stop()
            await instance.caller.stop(0)
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

    async def versions(self, workflow: str) -> Sequence[Version]:
        """Return the versions of a workflow."""
        return await self._store.versions(workflow)

    async def plan(self, hash_: str) -> Plan:
        """Return the plan of a version."""
        return await self.instance.plans.of(hash_)

    async def _send(self, execution_id: str, command: AnyCommand) -> Execution:
        """Put a command into the queue of an open execution, for whoever drives it."""
        id_ = checked_id(execution_id)
        kind, body = encode_command(command)
        (taken,) = await self.instance.driver.send([Enqueue(execution_id=id_, kind=kind, body=body)])
        if isinstance(taken, Refused):
            if taken.code == "unknown_execution":
                raise UnknownExecution(taken.message)
            row = await self._store.get(id_)
            raise WrongState(taken.message, row.head.status if row is not None else "unknown")
        return await self.get(id_)

    async def _reopen(self, head: Head, kept: Kept, command: AnyCommand) -> Execution:
        """Open a closed execution again, and start nothing of it."""
        self.instance.driver.stop()
        return await super()._reopen(head, kept, command)
