"""One life of an engine in a test, from its opening to its end, and how it is ended in the middle.

A process that dies takes everything with it that is not in the database. Here the process goes on, so all that an
engine is made of has to be cut off: its tasks are known, because each inherits the mark of the life that it belongs to,
and are cancelled; its store does not answer any more, on whatever thread; its moments are forgotten.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TYPE_CHECKING, Any, TypeVar, cast

from layover.ports.store import FAMILIES
from layover.runtime.runtime import Runtime
from layover.testing.store_proxy import FamilyProxy

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from layover.ports.store import Store

T = TypeVar("T")

_TO_END = 1.0  # seconds that a cancelled task has to come to its end


class EngineKilled(asyncio.CancelledError):
    """What ends the code that runs at the moment of a crash; nothing in the runtime takes it for a mere error."""


class KilledInThread(Exception):  # noqa: N818 - it says what happened
    """The same on another thread than the event loop's, where it is raised for the caller that waits for the thread."""


class EngineLife:
    """What belongs to one engine, and whether it is dead."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.thread = threading.get_ident()
        self.dead = False
        self.died: asyncio.Future[None] = self.loop.create_future()
        self.in_flight = 0  # calls of the store
        self.stirred = asyncio.Event()
        self.tasks: set[asyncio.Task[Any]] = set()

    def die(self) -> None:
        """End here and now; allowed on any thread."""
        self.dead = True
        self.loop.call_soon_threadsafe(self._notice)

    def _notice(self) -> None:
        self.stirred.set()
        if not self.died.done():
            self.died.set_result(None)

    def killed(self) -> BaseException:
        """Return what the code that runs here ends with."""
        return EngineKilled() if threading.get_ident() == self.thread else KilledInThread()

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Have something done as a part of this life."""
        context = contextvars.copy_context()
        context.run(_life.set, self)
        return self.loop.create_task(work, context=context)

    async def bury(self) -> None:
        """Cancel all that is left; what resists is left to itself, and reaches nothing."""
        self.dead = True
        while tasks := [task for task in self.tasks if not task.done()]:
            for task in tasks:
                task.cancel()
            done, left = await asyncio.wait(tasks, timeout=_TO_END)
            for task in done:
                if not task.cancelled():
                    task.exception()
            if left:
                break
        self.tasks.clear()


_life: contextvars.ContextVar[EngineLife | None] = contextvars.ContextVar("layover_life", default=None)


class MarkedTasks:
    """Knows which tasks of an event loop belong to which life, and keeps their ends out of the log of the loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._factory = self._loop.get_task_factory()
        self._handler = self._loop.get_exception_handler()
        self._loop.set_task_factory(cast("Any", self._make))
        self._loop.set_exception_handler(self._tell)

    def end(self) -> None:
        """Leave the event loop as it was found."""
        self._loop.set_task_factory(self._factory)
        self._loop.set_exception_handler(self._handler)

    def _make(
        self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any
    ) -> asyncio.Future[Any]:
        task: asyncio.Future[Any] = (
            asyncio.Task(work, loop=loop, **options)
            if self._factory is None
            else cast("Callable[..., asyncio.Future[Any]]", self._factory)(loop, work, **options)
        )
        context = options.get("context")
        life = _life.get() if context is None else context.get(_life)
        if life is not None and isinstance(task, asyncio.Task):
            life.tasks.add(task)
            task.add_done_callback(life.tasks.discard)
            if life.dead:
                task.cancel()
        return task

    def _tell(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if isinstance(context.get("exception"), asyncio.CancelledError | KilledInThread):
            return  # a task of a dead engine ends by one of them
        if self._handler is None:
            loop.default_exception_handler(context)
        else:
            self._handler(loop, context)


class MortalStore:
    """The way of one engine to its store; when it dies, nothing gets through any more, in either direction."""

    def __init__(self, store: Store, life: EngineLife) -> None:
        self._store = store
        self._life = life
        self.clock_error = store.clock_error

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return FamilyProxy(name, found, self._mortal) if name in FAMILIES else self._mortal(name, found)

    def _mortal(self, name: str, method: Any) -> Any:
        if name in ("appends.lanes", "time_reads"):
            return method
        if name in ("tell", "listen"):
            return _no_hints
        if name == "claims.renewals":
            return _nothing  # a thread would go on renewing after the death of its engine

        async def call(*args: Any, **named: Any) -> Any:
            life = self._life
            if life.dead:
                raise life.killed()
            life.in_flight += 1
            try:
                return await method(*args, **named)
            finally:
                life.in_flight -= 1
                life.stirred.set()
                if life.dead:
                    raise life.killed() from None  # whatever the store says, its caller is dead

        return call


def _nothing() -> None:
    return None


def _no_hints(_: object) -> None:
    """No other process works on the database of a test."""


class MortalEngine(Runtime):
    """An engine that can be left without being stopped."""

    async def open(self, life: EngineLife) -> None:
        """Open it as a part of a life."""
        before = _life.set(life)
        try:
            await self.__aenter__()
        finally:
            _life.reset(before)

    async def abandon(self) -> None:
        """Let go of what a process that dies lets go of by itself; nothing is written, and no callback is called."""
        operations, self._open = self._open, None
        self._services.clear()
        if self._watchdog is not None:
            self._watchdog.stop()
        if self._standby is not None:
            self._standby.stop()
        if operations is not None:
            operations.instance.node_runner.dismiss()
            operations.instance.secrets.close()
        await self._http.close()
