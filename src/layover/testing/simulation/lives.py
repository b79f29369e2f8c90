"""Processes that are none: what runs in one of them carries its mark, and ends with it.

A task and a timer inherit the mark of the code that made them. When a life ends, what it had still to do is put aside
and not let go of: code that is let go of would run its `finally`, which a process that dies does not.
"""

from __future__ import annotations

import contextvars
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Coroutine

    from layover.runtime.instance import Instance
    from layover.runtime.runtime import Runtime
    from layover.testing.simulation.handles import Ready, Timer
    from layover.testing.simulation.world import World

T = TypeVar("T")


class Killed(BaseException):
    """Ends the code that runs when its process dies; nothing that it does afterwards reaches anything."""


class Lane:
    """What a process has to do next, in its order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready: deque[Ready | Timer] = deque()
        self.dead = False
        self.stopped_until = 0.0  # by a signal, or because a function blocks the event loop


class Life(Lane):
    """One process: an instance with its engine, the database's server, or the people outside."""

    def __init__(self, name: str, world: World) -> None:
        super().__init__(name)
        self.world = world
        self.loop = world.loop
        self.cut_until = 0.0  # nothing it sends arrives
        self.deaf_until = 0.0  # what it sends arrives, and no reply comes
        self.releases_until = 0.0  # something is on its way back that it has claimed
        self.reads_until: dict[str, float] = {}  # executions whose logs are on their way to it
        self.faulty_until = -1.0  # by then whatever was done to it is over
        self.lacks = ""  # a function that it does not have
        self.rate, self.boot = 1.0, 0.0  # of its clock that never jumps
        self.engine: Runtime | None = None  # once it is open
        self.instance: Instance | None = None  # of the engine, while that is open
        self.requests: dict[asyncio.Future[Any], None] = {}  # of people; they get no reply if it dies
        self.context = contextvars.copy_context()
        self.context.run(LIFE.set, self)

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Have something done in this process."""
        return self.loop.create_task(work, context=self.context.copy())

    def disturb(self, until: float) -> None:
        """Take note that what goes wrong until then has a reason."""
        self.faulty_until = max(self.faulty_until, until)

    def opened(self, engine: Runtime) -> None:
        """Take note of an engine that has opened."""
        self.engine, self.instance = engine, engine.instance

    def closing(self) -> Runtime | None:
        """Return the engine, which is to be stopped: it gets no more requests."""
        engine, self.engine, self.instance = self.engine, None, None
        return engine


LIFE: contextvars.ContextVar[Life | None] = contextvars.ContextVar("layover_simulated_life", default=None)
