"""What is done to servers, database, disk, lines and clock, one after the other, chosen by chance."""

from __future__ import annotations

import signal
import socket
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from .record import now
from .servers import LEASE

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from .disk import Disk
    from .line import Line
    from .record import Record
    from .servers import Server, ServerProcesses
    from .wall_clock import WallClock

_SECONDS = LEASE / 1000
_SHORT, _LONG = 0.3, (0.8, 1.5, 2.5)  # of a lease: what must not cost it, and what may
_SILENT_CLIENTS = 40
_STEPS = (40_000, -40_000, 3_600_000, -3_600_000)


class Faults:
    """All that is done, and how often it was."""

    def __init__(  # noqa: PLR0913 - each is named where it is given
        self,
        processes: ServerProcesses,
        record: Record,
        chance: Random,
        *,
        clock: WallClock,
        disk: Disk,
        lines: list[Line],
        after_full: Callable[[], None],
    ) -> None:
        self._processes = processes
        self._record = record
        self._chance = chance
        self._clock = clock
        self._disk = disk
        self._lines = lines
        self._after_full = after_full
        self._clients: list[socket.socket] = []
        self.done: Counter[str] = Counter()
        often: list[tuple[int, Callable[[], None]]] = [
            (5, self._kill), (3, self._stop), (3, self._stop_long), (3, self._end), (2, self._silent_clients),
            (1, self._poison), (2, self._block),
        ]  # fmt: skip
        if clock.can_be_stepped:
            often.append((3, self._step))
        if disk.can_be_full:
            often.append((1, self._fill))
        if lines:
            often += [(3, self._silence), (1, self._silence_all)]
        self._kinds = [fault for weight, fault in often for _ in range(weight)]

    def one(self) -> None:
        """Do one thing."""
        self._chance.choice(self._kinds)()

    def close(self) -> None:
        for client in self._clients:
            client.close()

    # Processes

    def _kill(self) -> None:
        self._server().send(signal.SIGKILL)
        self.done["killed"] += 1

    def _end(self) -> None:
        server = self._server()
        server.is_leaving = True
        server.send(signal.SIGTERM)
        self.done["told to stop"] += 1

    def _stop(self) -> None:
        self._halt(_SHORT, excuses=False)

    def _stop_long(self) -> None:
        self._halt(self._chance.choice(_LONG), excuses=True)

    def _halt(self, leases: float, *, excuses: bool) -> None:
        server, begun = self._server(), now()
        name = server.name
        server.send(signal.SIGSTOP)
        time.sleep(leases * _SECONDS)
        server.send(signal.SIGCONT)
        kind = "stopped past the lease" if excuses else "stopped shortly"
        self._record.fault(kind, name, begun, excuses=excuses)
        self.done[kind] += 1

    def _poison(self) -> None:
        self._begin("poison", {})

    def _block(self) -> None:
        self._begin("block", {"ms": int(LEASE * self._chance.choice((0.5, 1.6)))})

    def _begin(self, workflow: str, given: object) -> None:
        body = {"workflow": workflow, "input": given}
        key = f"{workflow}-{now()}"
        reply = self._processes.until_answered(self._chance, "POST", "/api/v1/executions", body, key=key)
        if reply is not None and reply[0] == 202:
            self._record.started(str(reply[1]["id"]), workflow)
        self.done[workflow] += 1

    # Around them

    def _silent_clients(self) -> None:
        """Hold connections on which half a request has come; some of those from before are let go."""
        while len(self._clients) > 3 * _SILENT_CLIENTS:
            self._clients.pop(0).close()
        server = self._server()
        with suppress(OSError):
            for _ in range(_SILENT_CLIENTS):
                client = socket.create_connection(("127.0.0.1", server.port), 1)
                client.send(b"POST /api/v1/executions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le")
                self._clients.append(client)
        self.done["silent clients"] += 1

    def _step(self) -> None:
        """Step the clock, now and then right back."""
        by = self._chance.choice(_STEPS)
        self._step_by(by)
        if self._chance.randrange(2):
            time.sleep(self._chance.uniform(0, _SECONDS))
            self._step_by(-by)

    def _step_by(self, milliseconds: int) -> None:
        begun = now()
        self._clock.step(milliseconds)
        # By a clock that leaps ahead all leases are over for whoever starts then, and has not known another time.
        self._record.fault("clock stepped", "", begun, excuses=bool(self._lines) and milliseconds > 0)
        self.done["clock stepped"] += 1

    def _fill(self) -> None:
        begun = now()
        self._disk.fill()
        time.sleep(self._chance.choice((0.3, 1.5)) * _SECONDS)
        self._disk.empty()
        self._after_full()
        self._record.fault("disk full", "", begun, excuses=True)
        self.done["disk full"] += 1

    def _silence(self) -> None:
        """Silence the connections that there are; whoever connects anew is served."""
        line = self._chance.choice(self._lines)
        line.fall_silent(for_new=False)
        time.sleep(self._chance.choice((0.3, 1.5)) * _SECONDS)
        line.go_on()
        self.done["silent connections"] += 1

    def _silence_all(self) -> None:
        number = self._chance.randrange(len(self._lines))
        begun, name = now(), self._processes.servers[number].name
        self._lines[number].fall_silent(for_new=True)
        time.sleep(self._chance.choice((0.3, 1.5)) * _SECONDS)
        self._lines[number].go_on()
        self._record.fault("no line", name, begun, excuses=True)
        self.done["no line to the database"] += 1

    def _server(self) -> Server:
        return self._chance.choice(self._processes.servers)
