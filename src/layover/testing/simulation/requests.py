"""Requests of people and systems outside: an instance that is ready handles them, unless they hang up before."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from layover.errors import LayoverError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.runtime.runtime import Runtime
    from layover.testing.simulation.world import World

T = TypeVar("T")

LONGEST_REQUEST = 120.0  # seconds


class Requests:
    """Sends requests to instances, and draws how patient and how careful their senders are."""

    def __init__(self, world: World) -> None:
        self._world = world

    def patience(self) -> float | None:
        """Return after how many seconds a sender hangs up; None if it waits."""
        world = self._world
        if world.loop.time() > world.heals_at or world.chance.random() >= world.mixture.hang_ups:
            return None
        return world.chance.expovariate(50 if world.chance.random() < 0.7 else 1)

    def is_rash(self) -> bool:
        """Return whether a sender does something twice, too late, or without need."""
        world = self._world
        return world.loop.time() < world.heals_at and world.chance.random() < world.mixture.rash

    async def ask(
        self,
        make: Callable[[Runtime], Awaitable[T]],
        tell: Callable[[T], None] | None = None,
        patience: float | None = None,
    ) -> T | None:
        """Send a request to an instance; return its result, or None if it failed or was not answered.

        `tell` gets the result at the moment at which the instance has it, also if the sender has hung up.
        """
        world = self._world
        ready = world.instances.ready()
        if not ready:
            return None
        life = world.chance.choice(ready)
        engine = life.engine
        reply: asyncio.Future[T] = world.loop.create_future()
        life.requests[reply] = None

        async def handle() -> T:
            if engine is None:
                raise AssertionError("it was ready")
            found = await make(engine)
            if not life.dead and tell is not None:
                tell(found)
            return found

        def handled(task: asyncio.Task[T]) -> None:
            life.requests.pop(reply, None)
            error = ConnectionError("hung up") if task.cancelled() else task.exception()
            if reply.done():
                return
            if error is not None:
                reply.set_exception(error)
            else:
                reply.set_result(task.result())

        task = life.begin(handle())
        task.add_done_callback(handled, context=world.outside.context)
        if patience is not None:
            world.loop.call_later(patience, task.cancel, context=life.context)
        try:
            async with asyncio.timeout(LONGEST_REQUEST):
                return await reply
        except (LayoverError, ConnectionError, TimeoutError):
            return None
        except Exception as error:  # noqa: BLE001 - a client would get it as an internal error
            world.oracle.breaks("NO_INTERNAL_ERROR", f"a request ended with {error!r}"[:300])
            return None
