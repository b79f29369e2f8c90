"""The engine for scripts and notebooks: the same engine, on an event loop in a thread of its own; every call blocks.

    with SyncEngine("sqlite:///app.db", nodes=[pay_back]) as engine:
        engine.register(flow)
        execution = engine.start("refund", {"amount": 250}, wait="rest")

Nothing is decided here: each method has the signature of the engine's own, and waits for it. Whoever interrupts a call
gives up waiting and nothing else: what was asked for may still happen, as if the process had been ended there.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from concurrent.futures import CancelledError, Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from layover.bootstrap import DEFAULT, Engine
from layover.runtime.errors import EngineClosed

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import FrameType, TracebackType

    from layover.authoring.workflow import Workflow
    from layover.core.plan import Plan
    from layover.nodes.registry import AnyFunction
    from layover.ports.records import ExecutionRow, PointRow, Reserved, Version
    from layover.runtime.executions import HistoryEntry, Options
    from layover.runtime.node_executions import NodeExecution
    from layover.runtime.outside import Delivered
    from layover.runtime.settings import Settings
    from layover.runtime.views import Execution
    from layover.runtime.why import Why

T = TypeVar("T")

_STOPPING = (signal.SIGINT, signal.SIGTERM)


class SyncEngine:
    """A durable workflow engine on the database at an address, whose methods block."""

    def __init__(
        self,
        db: str = DEFAULT,
        *,
        nodes: Iterable[AnyFunction] = (),
        probes: Mapping[str, AnyFunction] | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._engine = Engine(db, nodes=nodes, probes=probes, settings=settings)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()  # of the loop: what is sent to it is sent before it ends

    # From its beginning to its end

    def open(self) -> Self:
        """Begin to work; `with` does the same, and ends it too."""
        if self._loop is None:
            loop = self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_run, args=(loop,), name="layover-engine", daemon=True)
            self._thread.start()
            try:
                self._wait(self._engine.__aenter__())
            except BaseException:
                self._end_loop()
                raise
        return self

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self, grace: float | None = None) -> None:
        """Stop claiming, let calls come to an end for a while (in seconds), and give back the rest."""
        if self._loop is None:
            return
        self._refuse_inside()
        loop, hurry, stopped = self._opened(), self._hurry(), Future[None]()
        interrupted: KeyboardInterrupt | None = None
        tasks: list[asyncio.Task[None]] = []

        def begin() -> None:
            if not tasks:  # an interrupt may have come before it was known that this was asked for
                tasks.append(loop.create_task(self._engine.stop(grace)))
                tasks[0].add_done_callback(lambda task: _pass_on(task, stopped))

        try:
            while not stopped.done():
                try:
                    loop.call_soon_threadsafe(begin)
                    stopped.result()
                except KeyboardInterrupt as error:  # what is still running is left, and the rest is still given back
                    interrupted = error
                    hurry()
        finally:
            self._end_loop()
        if interrupted is not None:
            raise interrupted

    def serve(self) -> None:
        """Work until the process is told to stop (SIGINT, SIGTERM); told again, leave at once what is still running."""
        told, hurry = SimpleQueue[int](), self._hurry()  # unlike an event, it may be told while it is being asked
        often: list[int] = []

        def stop(number: int, _frame: FrameType | None) -> None:
            if often:
                hurry()
            often.append(number)
            told.put(number)

        before = {number: signal.signal(number, stop) for number in _STOPPING}
        try:
            told.get()
            self.stop()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    # Workflows

    def register(self, definition: Workflow | Plan | Path | str | Mapping[str, object]) -> Version:
        """Keep a workflow: as built in Python, YAML or JSON text, the path of a file, a mapping, or a plan."""
        return self._wait(self._engine.register(definition))

    def plan_of(self, workflow: str) -> Plan:
        """Return the plan of the newest version of a workflow."""
        return self._wait(self._engine.plan_of(workflow))

    # Executions

    def start(  # noqa: PLR0913 - each is named where it is given
        self,
        workflow: str,
        given: object = None,
        *,
        id: str | None = None,  # noqa: A002 - it is what everybody calls it
        key: str | None = None,
        on_conflict: Literal["reject", "return"] = "reject",
        wait: Literal["rest", "end"] | None = None,
        options: Options | None = None,
    ) -> Execution:
        """Begin an execution, under an id of its own or one that belongs to an idempotency key."""
        return self._wait(
            self._engine.start(workflow, given, id=id, key=key, on_conflict=on_conflict, wait=wait, options=options)
        )

    def wait(self, execution_id: str, until: Literal["rest", "end"] = "end") -> Execution:
        """Return an execution once it has come to rest, or to its end."""
        return self._wait(self._engine.wait(execution_id, until))

    def result(self, execution_id: str) -> object:
        """Return what an execution gives, once it has; raise what it failed with."""
        return self._wait(self._engine.result(execution_id))

    def get(self, execution_id: str) -> Execution:
        """Return an execution as it is now."""
        return self._wait(self._engine.get(execution_id))

    def list(
        self,
        *,
        workflow: str | None = None,
        status: Sequence[str] = (),
        tag: str | None = None,
        where: Mapping[str, object] | None = None,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[ExecutionRow]:
        """Return executions, newest first; `after` goes on behind one that was seen: its `created_at` and id."""
        return self._wait(
            self._engine.list(workflow=workflow, status=status, tag=tag, where=where, after=after, limit=limit)
        )

    def history(self, execution_id: str, since: int = 0, limit: int = 1000) -> Sequence[HistoryEntry]:
        """Return events of an execution from a number on."""
        return self._wait(self._engine.history(execution_id, since, limit))

    def nodes(self, execution_id: str) -> Sequence[NodeExecution]:
        """Return what became of every node that was reached."""
        return self._wait(self._engine.nodes(execution_id))

    def points(
        self, execution_id: str | None = None, *, status: Sequence[str] = ("open",), children: bool = False
    ) -> Sequence[PointRow]:
        """Return pause points, the oldest first; with `children`, also those of the executions that one waits for."""
        return self._wait(self._engine.points(execution_id, status=status, children=children))

    def counts(self) -> dict[str, int]:
        """Return how many executions there are, by status."""
        return self._wait(self._engine.counts())

    def why(self, execution_id: str) -> Why:
        """Return what an execution waits for, and what those wait for that it waits for."""
        return self._wait(self._engine.why(execution_id))

    # What people do

    def pause(self, execution_id: str, reason: str = "", *, by: str | None = None) -> Execution:
        """Hold an execution: nothing starts from now on, and what is running comes to its end."""
        return self._wait(self._engine.pause(execution_id, reason, by=by))

    def resume(
        self, execution_id: str, data: dict[str, object] | None = None, reason: str = "", *, by: str | None = None
    ) -> Execution:
        """Let an execution go on; the data becomes part of its variables."""
        return self._wait(self._engine.resume(execution_id, data, reason, by=by))

    def cancel(self, execution_id: str, reason: str = "", *, by: str | None = None) -> Execution:
        """End an execution."""
        return self._wait(self._engine.cancel(execution_id, reason, by=by))

    def retry(self, execution_id: str, *, by: str | None = None) -> Execution:
        """Go on with a failed execution, or with what waits for an operator, from what failed."""
        return self._wait(self._engine.retry(execution_id, by=by))

    def rewind(self, execution_id: str, to: str, reason: str = "", *, by: str | None = None) -> Execution:
        """Drop the results of a node and of all that came after it, and go on from there."""
        return self._wait(self._engine.rewind(execution_id, to, reason, by=by))

    def answer(  # noqa: PLR0913 - each is named where it is given
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
        """Answer a pause point; the same `key` again is the same answer."""
        return self._wait(
            self._engine.answer(point, data, by=by, roles=roles, approved=approved, comment=comment, key=key)
        )

    def cancel_point(self, point: str, reason: str = "") -> Execution:
        """Give up waiting at a pause point; its node fails."""
        return self._wait(self._engine.cancel_point(point, reason))

    # What systems outside tell

    def deliver(
        self,
        name: str,
        key: str = "",
        data: object = None,
        *,
        id: str | None = None,  # noqa: A002 - as everybody says
    ) -> Delivered:
        """Bring a signal: whoever waits for it goes on, and it is kept for those who will look back."""
        return self._wait(self._engine.deliver(name, key, data, id=id))

    def call_back(self, token: str | None = None, output: object = None, *, point: str | None = None) -> None:
        """Give the reply that a callback node waits for."""
        self._wait(self._engine.call_back(token, output, point=point))

    def fail_callback(
        self, token: str | None = None, message: str = "", *, retryable: bool = True, point: str | None = None
    ) -> None:
        """Say that what a callback node waits for has failed."""
        self._wait(self._engine.fail_callback(token, message, retryable=retryable, point=point))

    def beat(self, token: str | None = None, *, point: str | None = None) -> None:
        """Say that what a callback node waits for is still being worked at."""
        self._wait(self._engine.beat(token, point=point))

    # How a call gets there

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Have something done on the engine's event loop, and wait for it here."""
        doing = self._begin(work)
        try:
            return doing.result()
        except CancelledError as error:
            raise EngineClosed("The engine was closed meanwhile.") from error
        except BaseException:
            doing.cancel()  # whoever is interrupted waits no longer
            raise

    def _begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            try:
                self._refuse_inside()
                loop = self._opened()
            except Exception:
                work.close()  # it is never begun
                raise
            return asyncio.run_coroutine_threadsafe(work, loop)

    def _opened(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise EngineClosed("The engine is not open: use `with SyncEngine(...) as engine`, or `engine.open()`.")
        return self._loop

    def _refuse_inside(self) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError("This would block the engine itself: an async function cannot use its own SyncEngine.")

    def _hurry(self) -> Callable[[], None]:
        """Return what has every call of a function stop at once."""
        loop, caller = self._opened(), self._engine.instance.caller

        def hurry() -> None:
            loop.call_soon_threadsafe(caller.hurry)

        return hurry

    def _end_loop(self) -> None:
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


def _pass_on(task: asyncio.Task[None], stopped: Future[None]) -> None:
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    if error is not None:
        stopped.set_exception(error)
    else:
        stopped.set_result(None)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run an event loop until it is stopped; what is left on it is cancelled."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:  # their callers are told
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
