"""Matches signals with the pause points that wait for them, whichever of the two comes first.

A signal is stored before its waiters are looked up, and a wait is in the log before past signals are looked up: so one
of the two finds the other. Neither lookup is lost when an instance dies: until it is done, the signal stays
undispatched, or the wait has a message in the outbox. A match that is found twice is sent twice, and applied once.

An execution applies a signal once, to all points that are open at that time. A point that opens later ignores it, even
if it is found again, whatever the clocks say. Only a point that looks back receives earlier signals, and takes those
that the execution has not taken yet.

The pause of an operator may end with a signal. Then the execution itself waits, under its own id.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import msgspec

from layover.core.engine.answers import Refused
from layover.core.engine.command_codec import encode_command
from layover.core.engine.commands import Deliver
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.records import Enqueue
from layover.runtime.execution.outbox_messages import OWN_FOR
from layover.tracing.current import current_traceparent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.ports.records import Enqueued, Refusal, Signal
    from layover.ports.store import Store
    from layover.runtime.execution.outbox_messages import Scanning
    from layover.tracing.tracer import Tracer

# One signal may wake many, and one wait may find many: they are sent in groups that fit into a transaction.
_MOST_AT_ONCE = 100
_MOST_BYTES = 4_000_000
_MOST_SPANS = 1_000


class Sender(Protocol):
    """Can enqueue commands for executions."""

    async def send(self, commands: Sequence[Enqueue]) -> list[Enqueued | Refusal]:
        """Make commands durable; answer in their order."""


class FiredTriggers(Protocol):
    """Writes the inputs of triggers that a signal fires."""

    async def offer(self, signal: Signal, *, matched: bool) -> bool:
        """Write inputs; return whether all triggers have taken the signal."""


class WaitingWorkflows(Protocol):
    """Ends the pauses of workflows that wait for signals."""

    async def end_with(self, workflow: str, signal: Signal) -> bool:
        """End the pause of a workflow, if this is the signal that it waits for; return whether it is."""


class SignalRouter:
    """Sends signals to the executions that wait for them."""

    def __init__(self, store: Store, sender: Sender, tracer: Tracer | None = None) -> None:
        self._store = store
        self._sender = sender
        self._tracer = tracer
        self.triggers: FiredTriggers | None = None
        self.workflows: WaitingWorkflows | None = None
        self._spans: dict[str, str] = {}  # from which signals were sent, as long as this instance remembers
        self._found: dict[str, list[str]] = {}  # executions that took a signal by looking back, while it is sent here

    @contextmanager
    def sending(self, signal_id: str) -> Iterator[None]:
        """Note who finds a signal by looking back while it is stored and dispatched; and the span that sends it."""
        self._note_span(signal_id)
        noted = self._found.setdefault(signal_id, [])
        try:
            yield
        finally:
            if self._found.get(signal_id) is noted:
                del self._found[signal_id]

    def _note_span(self, signal_id: str) -> None:
        """Remember the span from which a signal is sent, for all who find the signal here."""
        span = current_traceparent() if self._tracer is not None else ""
        if span:
            self._spans[signal_id] = span
            if len(self._spans) > _MOST_SPANS:
                del self._spans[next(iter(self._spans))]

    async def dispatch(self, signal: Signal) -> tuple[str, ...]:
        """Send a stored signal to all executions that wait for it; return their ids."""
        told: list[str] = []
        waits = await self._store.signals.list_waits(signal.name, signal.key)
        executions = dict.fromkeys(wait.execution_id for wait in waits if not wait.workflow)
        for some in _bunches([(execution_id, signal) for execution_id in executions]):
            told += await self._tell(some)
        # A wait that looked back may have taken it since it was stored, and be over: it received the signal, too.
        told = list(dict.fromkeys((*told, *self._found.get(signal.id, ()))))
        matched = bool(executions or told)
        for wait in waits:
            if wait.workflow and self.workflows is not None:
                matched = await self.workflows.end_with(wait.workflow, signal) or matched
        reached(CommitPoint.SIGNAL_TOLD)
        if self.triggers is not None and not await self.triggers.offer(signal, matched=matched):
            return tuple(told)  # it stays undispatched, and is offered again
        await self._store.signals.mark_dispatched([signal.id])
        return tuple(told)

    async def look(self, now: int) -> None:
        """Dispatch signals that their receiving instance left undispatched."""
        more = True
        while more:
            left = await self._store.signals.list_undispatched(now - OWN_FOR, _MOST_AT_ONCE)
            for signal in left:
                await self.dispatch(signal)
            more = len(left) == _MOST_AT_ONCE

    async def scan(self, execution_id: str, scanning: Scanning) -> None:
        """Send an execution the signals that had arrived before its pause point was visible."""
        taken = frozenset(scanning.taken)
        for name, key in scanning.signals:
            stored = await self._store.signals.list_since(name, key, scanning.since)
            found = [signal for signal in stored if signal.id not in taken]
            for some in _bunches([(execution_id, signal) for signal in found]):
                if scanning.point == execution_id:  # the wait of an operator, which the execution knows of
                    await self._tell(some)
                    continue
                row = await self._store.queries.find_point(scanning.point)
                if row is None or row.status != "open":
                    return  # it has what it needs
                await self._tell(some, scanning.point if scanning.since < row.point.opened_at else "")

    async def _tell(self, those: Sequence[tuple[str, Signal]], point: str = "") -> list[str]:
        """Send signals to executions, for one of their points or for all; return those that are not closed."""
        spans, found = self._spans, self._found
        commands = [_delivery(to, signal, point, spans.get(signal.id, "")) for to, signal in those]
        taken = await self._sender.send(commands)
        told = [pair for pair, how in zip(those, taken, strict=True) if not isinstance(how, Refused)]
        for execution_id, signal in told:
            if signal.id in found:
                found[signal.id].append(execution_id)
        return [execution_id for execution_id, _ in told]


def _bunches(those: Sequence[tuple[str, Signal]]) -> Iterator[list[tuple[str, Signal]]]:
    bunch: list[tuple[str, Signal]] = []
    size = 0
    for execution_id, signal in those:
        if bunch and (len(bunch) == _MOST_AT_ONCE or size + len(signal.data) > _MOST_BYTES):
            yield bunch
            bunch, size = [], 0
        bunch.append((execution_id, signal))
        size += len(signal.data)
    if bunch:
        yield bunch


def _delivery(execution_id: str, signal: Signal, point: str, span: str) -> Enqueue:
    command = Deliver(
        point=point,
        id=signal.id,
        name=signal.name,
        key=signal.key,
        data=msgspec.Raw(signal.data),  # as it was kept: it need not be understood to be passed on
        at=signal.at,
        traceparent=span,
    )
    kind, body = encode_command(command)
    # No point has an empty id, and none a colon in it: one source cannot be mistaken for another.
    return Enqueue(execution_id=execution_id, kind=kind, body=body, source=f"signal:{point}:{signal.id}")
