"""Errors that the engines log: each must be the consequence of an injected fault."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from layover.testing.simulation.lives import LIFE, Killed
from layover.testing.simulation.wire import REFUSAL

if TYPE_CHECKING:
    from layover.testing.simulation.world import World

_OF_REFUSALS = ("append_unwritable", "execution_unwritable")  # logged if the database refuses an append
_OF_FUNCTIONS = ("attempt_failed", "execution_failed")  # logged if a function fails


class LogWatch(logging.Handler):
    """Breaks a law for each logged error that no injected fault explains."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.ERROR)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        """Look at a logged error; what a dead instance logs does not count."""
        life = LIFE.get()
        if life is not None and life.dead:
            return
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, Killed) or self._is_injected(record):
            return
        self._world.oracle.breaks("NO_INTERNAL_ERROR", f"{record.getMessage()} {error!r}"[:300])

    def _is_injected(self, record: logging.LogRecord) -> bool:
        """Return whether a fault was injected into the execution that an error is about, and not into another one."""
        name, args = str(record.msg).partition(" ")[0], record.args
        execution_id = str(args[0]) if isinstance(args, tuple) and args else ""
        if name in _OF_FUNCTIONS:
            return True
        if name in _OF_REFUSALS:
            return execution_id in self._world.refused
        if name == "child_refused" and isinstance(args, tuple):  # it names the parent: the child was never created
            return str(args[-1]) == REFUSAL and any(
                id_ not in self._world.database.heads for id_ in self._world.refused
            )
        if name == "suspect_put_off" and isinstance(args, tuple):
            return int(str(args[1])) <= self._world.oracle.losses[execution_id]
        return False
