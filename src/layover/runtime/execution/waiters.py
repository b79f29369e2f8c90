"""Those who wait for something of one active execution: its creator, its running calls, and callers for its rest."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from msgspec import field

from layover.core.light_structs import LightStruct
from layover.errors import LayoverError
from layover.runtime.execution.durability_waiters import NO_WRITERS, DurabilityWaiters

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine import commands as cmd
    from layover.core.engine.state import ExecutionState
    from layover.ports.records import Head, Outcome
    from layover.runtime.calls.call_out import FromCall
    from layover.runtime.calls.calls_out import CallsOut


class Confirmed(Protocol):
    """An execution at a moment at which its state is what the log says."""

    @property
    def state(self) -> ExecutionState:
        """Its state."""

    @property
    def finished_at(self) -> int | None:
        """When it was closed, if it was."""

    def head(self) -> Head | None:
        """Return its head."""


class Waiters(LightStruct):
    """The waiters of one execution."""

    _loop: asyncio.AbstractEventLoop
    _calls: CallsOut
    on_confirmed: Callable[[Confirmed], None] | None  # for the caller of `start`: the creation and a rest, once durable
    created: asyncio.Future[Outcome] | None  # if the execution is created here
    reports: DurabilityWaiters = NO_WRITERS  # that running calls wait for
    outcome: asyncio.Future[None] | None = None  # of the append in flight, if a running call waits for it
    _resters: list[asyncio.Future[None]] = field(default_factory=list)

    def add_report(self, command: FromCall) -> asyncio.Future[None]:
        """Return a future that is done when a report of a running call is durable."""
        if self.reports is NO_WRITERS:
            self.reports = DurabilityWaiters()
        return self.reports.add(command)

    def tell_reports(self, written: list[cmd.AnyCommand]) -> None:
        """Wake the calls whose reports are durable."""
        self.reports.tell(written, self._calls)

    def tell_creator(self, what: Outcome | LayoverError) -> None:
        """Tell the caller of `start` the outcome, unless that caller has given up waiting."""
        if self.created is None or self.created.done():
            return
        if isinstance(what, LayoverError):
            self.created.set_exception(what)
        else:
            self.created.set_result(what)

    async def until_outcome(self) -> None:
        """Wait until the append in flight has an outcome, or the execution is no longer driven here."""
        if self.outcome is None:
            self.outcome = self._loop.create_future()
        await asyncio.shield(self.outcome)  # others may wait for it, too

    def tell_outcome(self) -> None:
        """Wake the calls that wait for an outcome."""
        waiting, self.outcome = self.outcome, None
        if waiting is not None:
            waiting.set_result(None)

    async def until_rest(self) -> None:
        """Wait until the execution is no longer driven here."""
        waiting: asyncio.Future[None] = self._loop.create_future()
        self._resters.append(waiting)
        await waiting

    def end(self) -> None:
        """Wake all: the execution is no longer driven here."""
        for waiting in self._resters:
            if not waiting.done():
                waiting.set_result(None)
        self.reports.give_up()
        self.tell_outcome()
