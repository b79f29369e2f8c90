"""What commands ask of executions, wherever these are: in a database file, or behind a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from layover.bootstrap import inspectable_store
from layover.cli.desk import Desk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from layover.core.plan import Plan
    from layover.ports.records import ExecutionRow, PointRow, Reserved, Version
    from layover.runtime.executions import HistoryEntry
    from layover.runtime.node_executions import NodeExecution
    from layover.runtime.outside import Delivered
    from layover.runtime.views import Execution
    from layover.runtime.why import Why


class Looking(Protocol):
    """What commands that change nothing ask."""

    async def get(self, execution_id: str) -> Execution:
        """Return an execution as it is now."""

    async def list(
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        where: Mapping[str, object] | None = None,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[ExecutionRow]:
        """Return executions, newest first."""

    async def history(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[HistoryEntry]:
        """Return events of an execution from a number on."""

    async def nodes(self, execution_id: str) -> Sequence[NodeExecution]:
        """Return what became of every node that was reached."""

    async def points(
        self, execution_id: str | None = None, *, status: Sequence[str] = ("open",), children: bool = False
    ) -> Sequence[PointRow]:
        """Return the pause points of an execution, the oldest first."""

    async def open_points(self) -> Sequence[PointRow]:
        """Return all pause points that are open, the oldest first."""

    async def point(self, point_id: str) -> PointRow | None:
        """Find a pause point, be it closed."""

    async def why(self, execution_id: str) -> Why:
        """Return what an execution waits for."""

    async def counts(self) -> dict[str, int]:
        """Return how many executions there are, by status."""

    async def now(self) -> int:
        """Return the time that executions go by."""

    async def versions(self, workflow: str) -> Sequence[Version]:
        """Return the versions of a workflow."""

    async def plan(self, hash_: str) -> Plan:
        """Return the plan of a version."""


class Client(Looking, Protocol):
    """What commands that act ask, too; each is durable when it returns."""

    async def answer(  # noqa: PLR0913 - as the engine has it
        self,
        point: str,
        data: object = None,
        *,
        by: str = "",
        roles: tuple[str, ...] = (),
        approved: bool | None = None,
        comment: str = "",
        key: str | None = None,
    ) -> Reserved:
        """Answer a pause point."""

    async def pause(self, execution_id: str, reason: str = "", *, by: str | None = None) -> Execution:
        """Hold an execution."""

    async def resume(
        self, execution_id: str, data: dict[str, object] | None = None, reason: str = "", *, by: str | None = None
    ) -> Execution:
        """Let an execution go on."""

    async def cancel(self, execution_id: str, reason: str = "", *, by: str | None = None) -> Execution:
        """End an execution."""

    async def retry(self, execution_id: str, *, by: str | None = None) -> Execution:
        """Go on from what failed."""

    async def rewind(self, execution_id: str, to: str, reason: str = "", *, by: str | None = None) -> Execution:
        """Go back to a node."""

    async def deliver(
        self,
        name: str,
        key: str = "",
        data: object = None,
        *,
        id: str | None = None,  # noqa: A002 - as the engine has it
    ) -> Delivered:
        """Bring a signal."""


def to_look(db: str) -> AbstractAsyncContextManager[Looking]:
    """Return a client that looks at a database: no instance is made for it, and nothing is changed."""
    return Desk(inspectable_store(db), acts=False)


def to_act(db: str) -> AbstractAsyncContextManager[Client]:
    """Return a client that writes into a database what is asked of executions, and drives none of them."""
    return Desk(inspectable_store(db), acts=True)
