"""The engine and the client whose methods block, from `open` to `close`."""

from __future__ import annotations

import asyncio
import functools
import signal
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, Self

from layover.client.client import Client
from layover.engine import Engine
from layover.errors import Closed
from layover.interface.door import Door
from layover.interface.durations import seconds_of
from layover.runtime.loop_thread import LoopThread
from layover.sync import handles  # noqa: F401 - a door returns them
from layover.sync.proxy import SyncProxy, blocking

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

    from layover.interface.durations import Duration

_STOPPING = (signal.SIGINT, signal.SIGTERM)
_LOOK_FOR_SIGNALS = 0.5  # seconds


@blocking(Door)
class SyncDoor(SyncProxy):
    """A door on an event loop of its own, which runs while it is open."""

    __slots__ = ()

    _name: ClassVar[str]  # in sentences, and of the thread
    _kind: ClassVar[type[Engine | Client]]

    def __init__(self, *args: Any, **named: Any) -> None:
        name, class_ = self._name, type(self).__name__
        thread = LoopThread(
            f"layover-{name}",
            closed=Closed(f"The {name} is not open: use `with {class_}(...) as {name}`, or `{name}.open()`."),
            ended=Closed(f"The {name} was closed meanwhile."),
            inside=f"This would block the {name} itself: an async function cannot use its own {class_}.",
        )
        super().__init__(self._kind(*args, **named), thread)

    def open(self) -> Self:
        """Begin to work; `with` does the same, and closes it too."""
        if not self._thread.runs:
            self._thread.start()
            try:
                self._thread.wait(self._of.__aenter__())
            except BaseException:
                self._thread.end()
                raise
        return self

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self, grace: Duration | None = None) -> None:
        """Close it; an interrupt meanwhile ends the grace, and what is left is still given back."""
        seconds_of("grace", grace)  # what is refused must not end the thread
        if not self._thread.runs:
            return
        self._thread.refuse_inside()
        loop, hurry, closed = self._thread.loop, self._hurry(), Future[None]()
        interrupted: KeyboardInterrupt | None = None
        tasks: list[asyncio.Task[None]] = []

        def begin() -> None:
            if not tasks:  # an interrupt may have come before it was known that this was asked for
                tasks.append(loop.create_task(self._of.close(grace)))
                tasks[0].add_done_callback(lambda task: _pass_on(task, closed))

        try:
            while not closed.done():
                try:
                    loop.call_soon_threadsafe(begin)
                    closed.result()
                except KeyboardInterrupt as error:  # what is still running is left, and the rest is still given back
                    interrupted = error
                    loop.call_soon_threadsafe(hurry)
        finally:
            self._thread.end()
        if interrupted is not None:
            raise interrupted

    def _hurry(self) -> Callable[[], None]:
        """Return what ends the grace of closing; it is called on the loop."""
        raise NotImplementedError


def _made_as(kind: type) -> Callable[..., None]:
    """Return a constructor with the signature of another class."""

    @functools.wraps(kind.__init__)  # type: ignore[misc]  # it is asked of the class itself
    def init(self: SyncDoor, *args: Any, **named: Any) -> None:
        SyncDoor.__init__(self, *args, **named)

    return init


@blocking(Engine)
class SyncEngine(SyncDoor):
    """A durable workflow engine in this process, open for the length of a `with`, whose methods block."""

    __slots__ = ()

    _name = "engine"
    _kind = Engine
    __init__ = _made_as(Engine)

    def serve(self) -> None:
        """Work until the process is told to stop (SIGINT, SIGTERM); told again, leave at once what is still running."""
        told, hurry, loop = SimpleQueue[int](), self._hurry(), self._thread.loop
        often: list[int] = []  # a queue may be told while it is being asked, unlike an event

        def stop(number: int, _frame: FrameType | None) -> None:
            if often:
                loop.call_soon_threadsafe(hurry)
            often.append(number)
            told.put(number)

        before = {number: signal.signal(number, stop) for number in _STOPPING}
        try:
            # A signal that comes just before the wait interrupts nothing: its handler runs when the wait is over.
            while not often:
                with suppress(Empty):
                    told.get(timeout=_LOOK_FOR_SIGNALS)
            self.close()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hurry(self) -> Callable[[], None]:
        self._thread.loop  # noqa: B018 - Closed, if it is not open
        hurry: Callable[[], None] = self._of._runtime.instance.node_runner.hurry  # noqa: SLF001 - of its twin
        return hurry


@blocking(Client)
class SyncClient(SyncDoor):
    """A server, open for the length of a `with`, whose methods block."""

    __slots__ = ()

    _name = "client"
    _kind = Client
    __init__ = _made_as(Client)

    def _hurry(self) -> Callable[[], None]:
        hurry: Callable[[], None] = self._of._transport.hurry  # noqa: SLF001 - of its twin
        return hurry


def _pass_on(task: asyncio.Task[None], closed: Future[None]) -> None:
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    if error is not None:
        closed.set_exception(error)
    else:
        closed.set_result(None)
