"""Running calls that wait until a report of theirs is durable."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from layover.runtime.calls.call_out import Superseded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.core.engine import commands as cmd
    from layover.runtime.calls.call_out import CallOut, FromCall


class DurabilityWaiters:
    """The waiting calls, by the command that they wait for."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: list[tuple[FromCall, asyncio.Future[None]]] = []

    def add(self, command: FromCall) -> asyncio.Future[None]:
        """Return a future that is done when a command is durable."""
        told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((command, told))
        return told

    def tell(self, written: list[cmd.AnyCommand], calls: Mapping[str, CallOut]) -> None:
        """Wake the calls whose commands were written; those that no longer count get `Superseded`."""
        for one in [one for one in self.waiting if any(one[0] is command for command in written)]:
            self.waiting.remove(one)
            command, told = one
            out = calls.get(command.node)
            if told.done():
                continue
            if out is not None and out.call.attempt == command.attempt:
                told.set_result(None)
            else:
                told.set_exception(Superseded())

    def give_up(self) -> None:
        """Wake all waiting calls with `Superseded`."""
        for _, told in self.waiting:
            if not told.done():
                told.set_exception(Superseded())
        self.waiting.clear()


NO_WRITERS: Final = DurabilityWaiters()  # of executions whose calls wrote nothing: no waiter is ever added to it
