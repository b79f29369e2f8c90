"""What an engine takes from the machine that it runs on: time, randomness, a name, threads, connections.

Everything else an engine does follows from its inputs and from the answers of its store. So a simulation that replaces
the machine controls everything: the same seed gives the same run.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import socket
from time import thread_time_ns as worked_ns
from typing import TYPE_CHECKING

from layover.ports.clock import running_ns
from layover.runtime.calls.threads import Threads
from layover.runtime.dispatch.standby import StandbyRenewer
from layover.runtime.dispatch.watchdog import Watchdog
from layover.runtime.ids import Ids
from layover.tracing.current import find_tracer

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.nodes.http_client import Connect
    from layover.ports.store import Store
    from layover.runtime.calls.call_out import CallOut
    from layover.runtime.deliveries.shipments import DeliveryWire
    from layover.runtime.dispatch.active_executions import Leases
    from layover.tracing.tracer import Tracer


class Machine:
    """The machine of this process."""

    def __init__(self) -> None:
        self.chance = random.Random()  # noqa: S311 - it spreads what would else be done at the same moment
        self.ids = Ids(self.secret)
        self.connect: Connect | None = None  # of `http` nodes, if not by sockets
        self.wire: DeliveryWire | None = None  # by which deliveries go, if not to the outside
        self.on_begin: Callable[[CallOut], None] | None = None  # told of each function that is entered; on any thread

    def running(self) -> int:
        """Return milliseconds of the clock that never jumps: only lengths of time can be told by it."""
        return running_ns() // 1_000_000

    def worked(self) -> int:
        """Return the milliseconds of the processor that this thread has used."""
        return worked_ns() // 1_000_000

    def name(self) -> str:
        """Return a name for an instance that no other has."""
        return f"{socket.gethostname()[:40]}-{os.getpid()}-{secrets.token_hex(4)}"

    def secret(self, count: int) -> bytes:
        """Return so many unpredictable bytes."""
        return os.urandom(count)

    async def pause(self, seconds: float, idle: Callable[[], bool]) -> None:  # noqa: ARG002 - a simulation asks
        """Let time pass before the next round of a service; a simulation passes over rounds of one that is idle."""
        await asyncio.sleep(seconds)

    def threads(self, most: int, replaced: int, on_return: Callable[[], None]) -> Threads:
        """Return threads for functions that are not async."""
        return Threads(most, replaced, on_return)

    def watchdog(self, blocked_after: float) -> Watchdog | None:
        """Have the event loop watched, if that can be."""
        return Watchdog(blocked_after)

    def tracer(self) -> Tracer | None:
        """Return what makes spans, if the program has set up OpenTelemetry."""
        return find_tracer()

    def standby(self, store: Store, leases: Leases) -> StandbyRenewer | None:
        """Have leases renewed beside the event loop, if that can be."""
        return StandbyRenewer(store, leases)
