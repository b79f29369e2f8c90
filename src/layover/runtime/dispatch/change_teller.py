"""Tells other instances which executions this one commits to, while one of them follows all changes.

An instance that follows says so again and again; a little after it has said so for the last time, nothing is told any
more. Commits are gathered, so that a busy instance sends a few hints in a second and not one for each commit. A file
needs none of this: whoever follows reads there what others have written.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from layover.ports.hints import FOLLOWED_FOR, Hint

if TYPE_CHECKING:
    from layover.runtime.dispatch.releases import Others

_GATHER: Final = 0.2  # seconds


class ChangeTeller:
    """Gathers the commits of this instance for those that follow."""

    def __init__(self, others: Others) -> None:
        self._others = others
        self._loop = asyncio.get_running_loop()
        self._until = 0.0
        self._pending: dict[str, None] = {}
        self._telling: asyncio.TimerHandle | None = None

    @property
    def is_wanted(self) -> bool:
        """Whether another instance follows."""
        return self._until > 0 and self._loop.time() < self._until

    def follow(self) -> None:
        """Tell of commits from now on, for a while: another instance has said that it follows."""
        self._until = self._loop.time() + FOLLOWED_FOR

    def committed(self, execution_id: str) -> None:
        """Tell of a commit soon, if another instance follows."""
        if not self.is_wanted:
            return
        self._pending[execution_id] = None
        if self._telling is None:
            self._telling = self._loop.call_later(_GATHER, self.flush)

    def flush(self) -> None:
        """Tell of what was gathered."""
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        pending, self._pending = self._pending, {}
        for execution_id in pending:
            self._others.tell(Hint(kind="change", execution_id=execution_id))
