"""What commands ask of executions, wherever they are: in a database, or behind a server; the answers are resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from layover.cli.options import Who

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from layover.api.resources.executions import (
        Event,
        Execution,
        ExecutionSummary,
        Graph,
        Leg,
        NodeExecution,
        Why,
    )
    from layover.api.resources.points import PausePoint
    from layover.api.resources.shared import Page
    from layover.api.resources.signals_and_callbacks import Delivered
    from layover.cli.options import Target

_NOBODY = Who()
MOST_SHOWN = 1_000  # nodes and legs of one execution


class Looking(Protocol):
    """What commands that change nothing ask."""

    async def get(self, execution_id: str) -> Execution:
        """Return an execution as it is."""

    async def list(
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        where: Mapping[str, object] | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[ExecutionSummary]:
        """Return executions, newest first; `where` is what their input contains."""

    async def history(self, execution_id: str, since: int = 0) -> Sequence[Event]:
        """Return the log of an execution from a number on."""

    async def nodes(self, execution_id: str) -> Sequence[NodeExecution]:
        """Return what became of the nodes that were reached first, `MOST_SHOWN` at most."""

    async def legs(self, execution_id: str) -> Sequence[Leg]:
        """Return the first stretches of work of an execution, `MOST_SHOWN` at most."""

    async def graph(self, execution_id: str) -> Graph:
        """Return the graph that an execution goes through."""

    async def points(self, execution_id: str) -> Sequence[PausePoint]:
        """Return all pause points of an execution, the oldest first."""

    async def inbox(self, who: Who | None) -> Sequence[PausePoint]:
        """Return what waits for people, the oldest first; with a person, what they may answer."""

    async def point(self, point_id: str) -> PausePoint | None:
        """Find a pause point, be it closed."""

    async def why(self, execution_id: str) -> Why:
        """Return what an execution waits for."""

    async def now(self) -> int:
        """Return the time that executions go by."""


class Client(Looking, Protocol):
    """What commands that act ask, too; each is durable when it returns."""

    @property
    def is_applied(self) -> bool:
        """Whether what an operator asked last has been applied."""

    async def answer(
        self, point_id: str, data: object, *, approved: bool | None = None, comment: str = ""
    ) -> PausePoint:
        """Answer a pause point."""

    async def delegate(self, point_id: str, to: str) -> PausePoint:
        """Let somebody else decide at an approval."""

    async def pause(self, execution_id: str, reason: str = "") -> Execution:
        """Hold an execution."""

    async def resume(self, execution_id: str, data: dict[str, object] | None = None, reason: str = "") -> Execution:
        """Let an execution go on."""

    async def cancel(self, execution_id: str, reason: str = "") -> Execution:
        """End an execution."""

    async def retry(self, execution_id: str) -> Execution:
        """Go on from what failed."""

    async def rewind(self, execution_id: str, to: str, reason: str = "") -> Execution:
        """Go back to a node."""

    async def deliver(self, name: str, key: str, data: object, signal_id: str | None) -> Delivered:
        """Bring a signal."""


def to_look(at: Target) -> AbstractAsyncContextManager[Looking]:
    """Return a client that looks: no instance is made for it, and nothing is changed."""
    return _client(at, _NOBODY, acts=False)


def to_act(at: Target, who: Who) -> AbstractAsyncContextManager[Client]:
    """Return a client that acts for somebody; on a database, it writes down what is asked and drives nothing."""
    return _client(at, who, acts=True)


def _client(at: Target, who: Who, *, acts: bool) -> AbstractAsyncContextManager[Client]:
    if (server := at.server) is not None:
        from layover.cli.remote import Remote  # noqa: PLC0415 - only who needs it loads it

        return Remote(server, at.secret)
    from layover.cli.local import Local  # noqa: PLC0415 - as above

    return Local(at.database, who, acts=acts)
