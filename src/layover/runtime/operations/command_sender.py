"""Sends the commands of operations to executions, and waits until they are applied.

An operation that the same user repeats under the same idempotency key counts once: the key is stored with the command,
or with the event by which a closed execution was reopened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypedDict

from layover.core.engine.answers import Refused
from layover.core.engine.codec import decode_events
from layover.core.engine.command_codec import encode_command
from layover.core.engine.events import ExecutionMoved, ExecutionReopened
from layover.core.ids import uuid8
from layover.errors import NotFound, WrongState
from layover.ports.records import CLOSED, Enqueue
from layover.runtime.execution.leg_tracing import sent_here
from layover.runtime.ids import checked_id
from layover.runtime.operations.timeouts import WaitLimit

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine import commands as cmd
    from layover.model.executions import Execution
    from layover.ports.records import AuditRow, Head
    from layover.ports.store import Store
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.dispatch.listeners import Listeners
    from layover.runtime.queries.queries import Queries

PAGE: Final = 1_000  # entries of a log
_IN_THE_LOG: Final = ("key:retry:", "key:rewind:", "key:move:")


class Operation(TypedDict, total=False):
    """Who does an operation, its idempotency key, its audit entry, and how long to wait until it is applied."""

    by: str | None
    key: str | None
    audit: AuditRow | None
    within: WaitLimit | None


class OperationOptions(NamedTuple):
    """An operation as it is sent: `source` is what its idempotency key is stored as."""

    by: str | None = None
    source: str = ""
    audit: AuditRow | None = None
    within: WaitLimit | None = None


class AppliedWait(Protocol):
    """Waits until commands are applied."""

    async def until_applied(self, execution_id: str, n: int, within: WaitLimit | None) -> None:
        """Wait until an execution has applied its n-th command, or is closed, or the time for that is over."""


class CommandWaits:
    """Waits for executions for as long as the caller of an operation does; else for `act_wait` seconds."""

    def __init__(self, listeners: Listeners, act_wait: float) -> None:
        self._listeners = listeners
        self._act_wait = act_wait

    async def until_applied(self, execution_id: str, n: int, within: WaitLimit | None) -> None:
        """Wait until an execution has applied its n-th command, or is closed, or the time for that is over."""
        await self.until(execution_id, within, lambda head: head.commands_done >= n or head.status in CLOSED)

    async def until(self, execution_id: str, within: WaitLimit | None, wanted: Callable[[Head], bool]) -> None:
        """Wait until an execution is as wanted, or the time for that is over."""
        limit = within if within is not None else WaitLimit(self._act_wait)
        await limit.wait_for(self._listeners.until(execution_id, wanted))


class CommandSender:
    """Sends commands to executions."""

    def __init__(self, store: Store, driver: Driver, queries: Queries, applied: AppliedWait) -> None:
        self._store = store
        self._driver = driver
        self._queries = queries
        self._applied = applied

    async def send(self, execution_id: str, command: cmd.AnyCommand, options: OperationOptions) -> Execution:
        """Put a command into the queue of an open execution, and wait until it has been taken from there."""
        id_ = checked_id(execution_id)
        kind, body = encode_command(sent_here(self._driver.tracer, command))
        (taken,) = await self._driver.send(
            [Enqueue(execution_id=id_, kind=kind, body=body, source=options.source, audit=options.audit)]
        )
        if isinstance(taken, Refused):
            if taken.code == "unknown_execution":
                raise NotFound(taken.message, code="unknown_execution")
            row = await self._store.queries.find_execution(id_)
            raise WrongState(taken.message, row.head.status if row is not None else "unknown")
        await self._applied.until_applied(id_, taken.n, options.within)
        return await self._queries.get(id_)

    async def until_applied(self, execution_id: str, n: int, within: WaitLimit | None) -> None:
        """Wait until an execution has applied its n-th command, or is closed, or the time for that is over."""
        await self._applied.until_applied(execution_id, n, within)

    async def is_repeated(self, execution_id: str, options: OperationOptions) -> bool:
        """Return whether an operation with the same idempotency key was done to an execution before."""
        source = options.source
        if not source:
            return False
        store = self._store
        if await store.commands.is_enqueued(execution_id, source):
            return True
        since, written = 0, source.encode()
        while source.startswith(_IN_THE_LOG) and (
            entries := await store.queries.read_history(execution_id, since, PAGE)
        ):
            events = [one for entry in entries if written in entry.events for one in decode_events(entry.events)]
            if any(isinstance(event, ExecutionReopened | ExecutionMoved) and event.key == source for event in events):
                return True
            since = entries[-1].seq + entries[-1].count
        return False


def options_of(what: str, operation: Operation) -> OperationOptions:
    """Return the options of an operation; without an idempotency key it is another one each time."""
    by, key = operation.get("by"), operation.get("key")
    return OperationOptions(by, source_of(what, by, key), operation.get("audit"), operation.get("within"))


def source_of(what: str, by: str | None, key: str | None) -> str:
    """Return what the idempotency key of an operation is stored as; empty without one."""
    if key is None:
        return ""
    known_by = uuid8("\0".join((what, by or "", key)))
    return f"key:{what.partition(':')[0]}:{known_by}"
