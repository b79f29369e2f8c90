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
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from layover.bootstrap import DEFAULT, Engine
from layover.runtime.errors import EngineClosed
from layover.runtime.loop_thread import LoopThread
from layover.runtime.queries.sync_queries import SyncQueries

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
    from pathlib import Path
    from types import FrameType, TracebackType

    from layover.authoring.workflow import Workflow
    from layover.core.plan import Plan
    from layover.nodes.registry import AnyFunction
    from layover.ports.access import Standing
    from layover.ports.records import AuditEntry, Reserved, Version
    from layover.runtime.operations.executions import Options, Until
    from layover.runtime.operations.signals import Delivered
    from layover.runtime.operations.timeouts import WaitTimeout
    from layover.runtime.operations.workflow_status import WorkflowStatusChange
    from layover.runtime.queries.views import Execution
    from layover.runtime.settings import Settings

T = TypeVar("T")

_STOPPING = (signal.SIGINT, signal.SIGTERM)


_CLOSED = "The engine is not open: use `with SyncEngine(...) as engine`, or `engine.open()`."
_ENDED = "The engine was closed meanwhile."
_INSIDE = "This would block the engine itself: an async function cannot use its own SyncEngine."


class SyncEngine(SyncQueries):
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
        self._own = LoopThread(
            "layover-engine", closed=EngineClosed(_CLOSED), ended=EngineClosed(_ENDED), inside=_INSIDE
        )

    # From its beginning to its end

    def open(self) -> Self:
        """Begin to work; `with` does the same, and ends it too."""
        if not self._own.runs:
            self._own.start()
            try:
                self._wait(self._engine.__aenter__())
            except BaseException:
                self._own.end()
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
        if not self._own.runs:
            return
        self._own.refuse_inside()
        loop, hurry, stopped = self._own.loop, self._hurry(), Future[None]()
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
            self._own.end()
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

    def register(
        self,
        definition: Workflow | Plan | Path | str | Mapping[str, object],
        *,
        functions: Collection[str] | None = None,
        audit: AuditEntry | None = None,
    ) -> Version:
        """Keep a workflow: as built in Python, YAML or JSON text, the path of a file, a mapping, or a plan."""
        return self._wait(self._engine.register(definition, functions=functions, audit=audit))

    def set_standing(
        self,
        workflow: str,
        state: Literal["active", "inactive", "deleted"],
        reason: str = "",
        *,
        by: str | None = None,
        audit: AuditEntry | None = None,
    ) -> Standing:
        """Activate, deactivate or delete a workflow; what was begun before goes on."""
        return self._wait(self._engine.set_standing(workflow, state, reason, by=by, audit=audit))

    def pause_workflow(
        self,
        workflow: str,
        reason: str = "",
        *,
        running: bool = False,
        by: str | None = None,
        audit: AuditEntry | None = None,
    ) -> WorkflowStatusChange:
        """Hold what starts from now on, and (`running`) pause what has begun; the first reason is kept."""
        return self._wait(self._engine.pause_workflow(workflow, reason, running=running, by=by, audit=audit))

    def resume_workflow(
        self, workflow: str, *, by: str | None = None, audit: AuditEntry | None = None
    ) -> WorkflowStatusChange:
        """Hold nothing that starts from now on, and resume what is held because its workflow was paused."""
        return self._wait(self._engine.resume_workflow(workflow, by=by, audit=audit))

    # Executions

    def start(  # noqa: PLR0913 - each is named where it is given
        self,
        workflow: str,
        given: object = None,
        *,
        id: str | None = None,  # noqa: A002 - it is what everybody calls it
        key: str | None = None,
        version: int | None = None,
        on_conflict: Literal["reject", "return"] = "reject",
        wait: Until | None = None,
        options: Options | None = None,
        audit: AuditEntry | None = None,
    ) -> Execution:
        """Begin an execution, under an id of its own or one that belongs to an idempotency key."""
        return self._wait(
            self._engine.start(
                workflow,
                given,
                id=id,
                key=key,
                version=version,
                on_conflict=on_conflict,
                wait=wait,
                options=options,
                audit=audit,
            )
        )

    # What people do

    def pause(
        self,
        execution_id: str,
        reason: str = "",
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Hold an execution: nothing starts from now on, and what is running comes to its end."""
        return self._wait(self._engine.pause(execution_id, reason, by=by, key=key, audit=audit, within=within))

    def resume(  # noqa: PLR0913 - as the engine's own
        self,
        execution_id: str,
        data: dict[str, object] | None = None,
        reason: str = "",
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Let an execution go on; the data becomes part of its variables."""
        return self._wait(self._engine.resume(execution_id, data, reason, by=by, key=key, audit=audit, within=within))

    def cancel(
        self,
        execution_id: str,
        reason: str = "",
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """End an execution."""
        return self._wait(self._engine.cancel(execution_id, reason, by=by, key=key, audit=audit, within=within))

    def retry(
        self,
        execution_id: str,
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Go on with a failed execution, or with what waits for an operator, from what failed."""
        return self._wait(self._engine.retry(execution_id, by=by, key=key, audit=audit, within=within))

    def rewind(  # noqa: PLR0913 - as the engine's own
        self,
        execution_id: str,
        to: str,
        reason: str = "",
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Drop the results of a node and of all that came after it, and go on from there."""
        return self._wait(self._engine.rewind(execution_id, to, reason, by=by, key=key, audit=audit, within=within))

    def answer(  # noqa: PLR0913 - each is named where it is given
        self,
        point: str,
        data: object = None,
        *,
        by: str = "",
        roles: tuple[str, ...] = (),
        approved: bool | None = None,
        comment: str = "",
        variables: dict[str, object] | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
    ) -> Reserved:
        """Answer a pause point; the same `key` again is the same answer.

        The variables are set when the answer is applied, as the data of a resume are.
        """
        return self._wait(
            self._engine.answer(
                point,
                data,
                by=by,
                roles=roles,
                approved=approved,
                comment=comment,
                variables=variables,
                key=key,
                audit=audit,
            )
        )

    def delegate(  # noqa: PLR0913 - as the engine has it
        self,
        point: str,
        to: str,
        *,
        by: str,
        roles: tuple[str, ...] = (),
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Let somebody else decide at an approval in one's place."""
        return self._wait(self._engine.delegate(point, to, by=by, roles=roles, key=key, audit=audit, within=within))

    def cancel_point(
        self,
        point: str,
        reason: str = "",
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Give up waiting at a pause point; its node fails."""
        return self._wait(self._engine.cancel_point(point, reason, by=by, key=key, audit=audit, within=within))

    # What systems outside tell

    def deliver(
        self,
        name: str,
        key: str = "",
        data: object = None,
        *,
        id: str | None = None,  # noqa: A002 - as everybody says
        audit: AuditEntry | None = None,
    ) -> Delivered:
        """Bring a signal: whoever waits for it goes on, and it is kept for those who will look back."""
        return self._wait(self._engine.deliver(name, key, data, id=id, audit=audit))

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
        return self._own.wait(work)

    def _hurry(self) -> Callable[[], None]:
        """Return what has every call of a function stop at once."""
        loop, caller = self._own.loop, self._engine.instance.node_runner

        def hurry() -> None:
            loop.call_soon_threadsafe(caller.hurry)

        return hurry


def _pass_on(task: asyncio.Task[None], stopped: Future[None]) -> None:
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    if error is not None:
        stopped.set_exception(error)
    else:
        stopped.set_result(None)
