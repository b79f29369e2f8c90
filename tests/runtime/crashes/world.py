"""What a test sees of processes that die: how they ended, what is in the database, and what was done to the world."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import tempfile
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

import apsw
import msgspec
import pytest

from layover.bootstrap import file_of, inspectable_store, open_runtime, open_store
from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events
from layover.ports.errors import StoreUnavailable
from layover.ports.view_records import ExecutionFilter
from layover.runtime.maintenance.verify import violations
from layover.runtime.settings import RuntimeSettings
from tests.conftest import FACTOR
from tests.runtime.tables import Tables
from tests.servers.fork_server import Begin, workers

from . import workload
from .worker import Options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from _pytest.mark import ParameterSet

    from layover.ports.commit_points import CommitPoint
    from layover.ports.records import Head
    from layover.ports.store import Inspectable, Store

# The last is on PostgreSQL too, with all processes on one machine; else each of them is on a machine of its own.
SQLITE, POSTGRES, NEIGHBOURS = ("sqlite", "postgres", "neighbours")
_LONGEST = 120  # seconds that a process may say nothing on a machine that is busy with other things
# Nobody sees that a process is dead on another machine: its leases have to run out. A neighbour's never do so here.
_LEASES = {SQLITE: {}, POSTGRES: {"lease_ttl": 1_000}, NEIGHBOURS: {"lease_ttl": 3_600_000}}


def everywhere(
    cases: Sequence[tuple[object, ...]], few: Sequence[tuple[object, ...]], near: Sequence[tuple[object, ...]] = ()
) -> list[ParameterSet]:
    """Return the kind of database with each case: all on SQLite, a few on PostgreSQL, and some of them with neighbours.

    On PostgreSQL each takes as long as a lease. `make torture` has time for all.
    """
    assert {*few, *near} <= set(cases)
    chosen = {SQLITE: cases, POSTGRES: cases if FACTOR > 1 else few, NEIGHBOURS: near}
    return [
        pytest.param(kind, *case, id="-".join(map(str, (kind, *case))))
        for kind, some in chosen.items()
        for case in some
    ]


class Process:
    """A process that runs the workload, or another of the programs beside it."""

    def __init__(self, folder: Path, options: Options, program: str, machine: str | None) -> None:
        given, self._to = os.pipe()
        self._from, said = os.pipe()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed when all is over
        environment = {**os.environ, **({"XDG_RUNTIME_DIR": machine} if machine else {})}
        wanted = Begin(program, str(folder), msgspec.json.encode(options).decode(), environment)
        self._pid = workers.begin(wanted, (given, said, self._errors.fileno()))
        os.close(given)
        os.close(said)
        self._file = file_of(options.address)
        self._heard = b""
        self._code: int | None = None

    def until(self, word: str) -> str:
        """Return the next line that it says, which begins with a word."""
        while True:
            line, end, rest = self._heard.partition(b"\n")
            if end:
                self._heard = rest
                if line.startswith(word.encode()):
                    return line.decode().removeprefix(word).strip()
            else:
                assert self._hears_more(), self.ended()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self._pid, number)

    def is_stopped(self) -> None:
        """Wait until it stands still, and stop all of it; not while it writes to a file, where nobody else could."""
        self.until("standing")
        with nobody_writes_to(self._file) if self._file is not None else nullcontext():
            self.send(signal.SIGSTOP)
            status = workers.status(self._pid, stopped=True)
        assert os.WIFSTOPPED(status), status

    def goes_on(self) -> None:
        """Have it go on from where it stands."""
        os.write(self._to, b"\n")
        self.send(signal.SIGCONT)

    def ended(self) -> tuple[int, str, str]:
        """Return how it ended, with all that it said."""
        if self._code is None:
            with suppress(BrokenPipeError):
                os.write(self._to, b"\n")
            while self._hears_more():
                pass
            self._code = os.waitstatus_to_exitcode(workers.status(self._pid))
        self._errors.seek(0)
        return self._code, self._heard.decode(), self._errors.read().decode()

    def is_killed(self) -> None:
        """Wait for its end, which must be a violent one."""
        code, out, err = self.ended()
        assert code == -signal.SIGKILL, (code, out, err)

    def is_done(self) -> list[object]:
        """Wait for its end, which must be a good one; return the outputs of its executions."""
        code, out, err = self.ended()
        assert code == 0, (code, out, err)
        found: list[object] = msgspec.json.decode(out.rpartition("done ")[2])
        return found

    def is_over(self) -> None:
        """Make sure that nothing is left of it."""
        if self._code is None:
            self.send(signal.SIGKILL)
            self._code = os.waitstatus_to_exitcode(workers.status(self._pid))
        os.close(self._to)
        os.close(self._from)
        self._errors.close()

    def _hears_more(self) -> bool:
        """Wait for what it says next; return whether there is anything."""
        if not select.select([self._from], [], [], _LONGEST)[0]:
            self.send(signal.SIGKILL)
            raise AssertionError(f"it says nothing and does not end: {self.ended()}")
        more = os.read(self._from, 65_536)
        self._heard += more
        return bool(more)


@contextmanager
def nobody_writes_to(file: Path) -> Iterator[None]:
    """Wait until nobody writes to a database, and have nobody begin to."""
    with closing(apsw.Connection(str(file))) as db:
        db.set_busy_timeout(_LONGEST * 1000)
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


class World:
    """A folder with a database and what was done, and what must hold of both."""

    def __init__(self, folder: Path, address: str, kind: str = SQLITE) -> None:
        self.folder = folder
        self.address = address
        self.tables = Tables(address)
        self.kind = kind
        self.effects = workload.Effects(folder)
        self._processes: list[Process] = []

    def run(self, program: str = "worker", *, settings: dict[str, int] | None = None, **options: object) -> Process:
        """Begin a process."""
        settings = {**_LEASES[self.kind], **(settings or {})}
        machine = str(self.folder / f"machine_{len(self._processes)}") if self.kind == POSTGRES else None
        chosen = Options(self.address, settings=settings, **options)  # type: ignore[arg-type]  # noticed at once
        process = Process(self.folder, chosen, program, machine)
        self._processes.append(process)
        return process

    def clean_up(self) -> None:
        """Leave no process behind."""
        for process in self._processes:
            process.is_over()

    def died_at(self, point: CommitPoint) -> None:
        """Make sure that the last process died where it should."""
        assert (self.folder / "died").read_text().splitlines()[-1] == point

    def store(self) -> Store:
        """Return the store, to be opened by another instance."""
        return open_store(self.address)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Inspectable | None]:
        """Give the store to read from, if there is anything yet."""
        store = inspectable_store(self.address)
        try:
            await store.open_to_read()
        except StoreUnavailable as error:
            if error.code != "missing":
                raise
            yield None
            return
        try:
            yield store
        finally:
            await store.close()

    async def is_sound(self) -> None:
        """Hold the database against everything that must be true of it."""
        async with self.reading() as store:
            if store is not None:
                found = await violations(store)
                assert found == [], found
                await self._has_what_was_acknowledged(store)

    async def heads(self) -> list[Head]:
        """Return the heads of all executions."""
        async with self.reading() as store:
            assert store is not None
            return [row.head for row in await store.queries.list_executions(ExecutionFilter(limit=10_000))]

    async def leases_run_out(self) -> None:
        """Wait until the lease of every execution that somebody drives has run out, by the time of the database."""
        store = self.store()
        await store.open("clock")
        try:
            driven = [head.wake_at or 0 for head in await self.heads() if head.owner is not None]
            assert driven
            await asyncio.sleep((max(driven) - await store.now() + 1) / 1000)
            assert await store.now() > max(driven)
        finally:
            await store.close()

    async def _has_what_was_acknowledged(self, store: Inspectable) -> None:
        for id_ in self.acknowledged():
            assert await store.queries.find_execution(id_) is not None, f"{id_} was acknowledged, and is gone"

    def acknowledged(self) -> dict[str, str]:
        """Return the executions that somebody was told of, with their workflows."""
        acks = workload.acks_in(self.folder)
        lines = acks.read_text().splitlines() if acks.exists() else []
        return {words[0]: words[1] for words in map(str.split, lines)}

    async def completed(self) -> set[tuple[str, str]]:
        """Return the nodes whose completion is durable."""
        return {(id_, event.node) for id_, event in await self.events() if isinstance(event, ev.NodeCompleted)}

    async def finish(
        self,
        only: Sequence[str] = workload.ALWAYS,
        copies: int = 1,
        stops: int = 0,
        *,
        settings: dict[str, int] | None = None,
    ) -> None:
        """Open an engine on what is left, and have everything come to its end as it should."""
        nodes = workload.functions(self.effects, _set)
        chosen = RuntimeSettings(poll=50, command_poll=20, snapshot_every=4, snapshot_at_rest=3)
        chosen = msgspec.structs.replace(chosen, **(settings or {}))
        wanted = [(name, copy) for copy in range(copies) for name in only]
        wanted += [("endless", copy) for copy in range(stops)]
        async with open_runtime(self.address, nodes=nodes, settings=chosen) as engine:
            await workload.register(engine)
            for name, copy in wanted:
                await workload.begin(engine, name, self.folder, copy)
            async with asyncio.timeout(_LONGEST):
                for name, copy in wanted:
                    output = await workload.finish(engine, name, self.folder, copy)
                    assert output == workload.OUTPUTS[name], name

    async def did_nothing_twice(self, before: set[tuple[str, str]], effects_before: int) -> None:
        """Hold what was done against the log: what was completed did not run again, and all that ran is in it."""
        done = self.effects.read()
        again = [one for one in done[effects_before:] if one[:2] in before]
        assert not again, f"completed, and called again: {again}"
        assert len(set(done)) == len(done), "one attempt was made twice"
        events = await self.events()
        started = {(id_, event.node, event.attempt) for id_, event in events if isinstance(event, ev.NodeStarted)}
        assert set(done) <= started, "a call was made that its log does not know"

    async def events(self) -> list[tuple[str, ev.AnyEvent]]:
        """Return what happened to every execution, each with its id."""
        found: list[tuple[str, ev.AnyEvent]] = []
        async with self.reading() as store:
            rows = [] if store is None else await store.queries.list_executions(ExecutionFilter(limit=10_000))
            for id_ in [row.head.execution_id for row in rows]:
                assert store is not None
                for entry in await store.queries.read_history(id_, 0, 10_000):
                    found += ((id_, event) for event in decode_events(entry.events))
        return found


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event
