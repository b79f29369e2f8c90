"""Appends: the only way an execution moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from layover.ports.records import Append, Outcome, QueuedCommand


class AppendStore(Protocol):
    """Writes what was decided, as far as the writer still drives the execution."""

    lanes: int  # how many commits may be on their way at once

    def commit(self, appends: Sequence[Append]) -> Awaitable[list[Outcome]]:
        """Write appends, at most one for each execution; one that is refused leaves the others alone.

        What no careful writer sends is an error, and nothing of the commit is written: an execution twice, a version
        that is not there, a pause point that is opened again. An append of no events leaves nothing in the log.
        """

    async def commit_informed(self, append: Append, decide: Callable[[tuple[QueuedCommand, ...]], Append]) -> Outcome:
        """Write an append; if its writer had not seen all commands, decide it again while no more can arrive.

        `decide` may be called on another thread, and more than once.
        """
