"""The floor under the runtime: the least that has to happen so that a step is durable, and nothing else.

An event loop, one task per call, and one writer thread that commits what waits in one transaction. It writes the rows
that the engine writes: the same tables (made by our own migrations), the same statements, the same events as bytes, the
same comparison on the head row, the same durability; and every step waits for its commit. What it does not have is an
engine: the events come from a log that was recorded, nothing is decided, no state is kept, and no answer of the store
has any consequence but that an append that does not pass ends the measurement.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from time import time
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events, encode_events
from layover.core.input_index import document_of
from layover.runtime.ids import new_id
from layover.stores.ids import key
from layover.stores.json_contains import storable_input
from layover.stores.sqlite.connection import connect, write_ahead
from layover.stores.sqlite.migrations import migrate
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

    from layover.ports.records import Entry

Values: TypeAlias = tuple[int | str | bytes | None, ...]
Statement: TypeAlias = tuple[str, Values]
Id: TypeAlias = str | bytes  # of an execution, as its database has it

OWNER = "floor-1234-0123abcd"
WORKFLOW = "floor"
LEASE = 30_000

_APPEND, _APPEND_ALIKE, _REST, _ENTRY, _FINISH = (
    SQL["append"],
    SQL["append_keeping_status"],
    SQL["append_and_rest"],
    SQL["insert_entries"],
    SQL["finish_execution"],
)
_HEAD, _EXECUTION = SQL["create_head"], SQL["create_execution"]
_ENQUEUE, _COMMAND, _CHANGE, _CLOSE, _OPEN, _CLAIM = (
    SQL[name]
    for name in ("bump_commands_seq", "insert_commands", "change_point", "close_point", "open_point", "claim_heads")
)


class Step(NamedTuple):
    """One append of a recorded execution: its events, how many calls it makes and how many have come back with it."""

    events: list[ev.AnyEvent]
    calls: int
    returned: int
    input: bytes | None  # what the execution is found by, if this begins one


class Asked(NamedTuple):
    """A pause point as it is opened and as it is answered, and the command that the answer is; all as bytes."""

    kind: str
    opened: bytes
    answered: bytes
    command: bytes
    wait: int | None  # until it comes due by itself, if it does

    def due(self, at: int) -> int | None:
        """Return when one comes due that was opened at a moment."""
        return None if self.wait is None else at + self.wait


class Lease(NamedTuple):
    """What an append is compared with, besides the length of the log."""

    epoch: int = 1
    seen: int = 0


def steps_of(entries: list[Entry]) -> list[Step]:
    """Return what an execution appended, from its log."""
    steps: list[Step] = []
    for entry in entries:
        events = decode_events(entry.events)
        calls = sum(isinstance(event, ev.NodeStarted) for event in events)
        returned = sum(isinstance(event, ev.NodeCompleted) for event in events)
        inputs = [
            storable_input(document_of(event.input)) for event in events if isinstance(event, ev.ExecutionCreated)
        ]
        steps.append(Step(events, calls, returned, inputs[0] if inputs else None))
    return steps


FIRST = Lease()


class _Append(NamedTuple):
    head: Statement
    entry: Values
    more: list[Statement]
    done: asyncio.Future[None]


class Floor:
    """A bare loop over one database file."""

    def __init__(self, path: Path) -> None:
        self._loop = asyncio.get_running_loop()
        self._db = connect(path)
        migrate(self._db, path, now())
        write_ahead(self._db, path)
        self._db.execute(
            SQL["insert_versions"],
            {"workflow": WORKFLOW, "number": 1, "hash": WORKFLOW, "document": b"{}", "created_at": now()},
        )
        self._waiting: list[_Append] = []
        self._wanted = threading.Condition()
        self._stopped = False
        self._resting: set[Id] = set()  # the next append of these changes their status, which is another statement
        self.transactions = 0
        self._thread = threading.Thread(target=self._run, name="floor-writer", daemon=True)
        self._thread.start()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        with self._wanted:
            self._stopped = True
            self._wanted.notify()
        await asyncio.to_thread(self._thread.join)

    # What executions do

    def new_id(self) -> Id:
        """Return an id for an execution."""
        return key(new_id(now()))

    async def execute(self, steps: list[Step]) -> None:
        """Write an execution from its beginning to its end."""
        id_ = self.new_id()
        await self.create(id_, steps[0])
        await self.go_on(id_, steps)

    async def go_on(self, id_: Id, steps: list[Step], done: int = 1, lease: Lease = FIRST) -> None:
        """Write an execution to its end; each call is a task, made when the append that says so is durable."""
        seq = sum(len(step.events) for step in steps[:done]) - 1
        out = self._calls(steps[done - 1])
        for step in steps[done:]:
            for _ in range(min(step.returned, len(out))):
                await out.popleft()
            await self.append(id_, seq, step, lease, closing=step is steps[-1])
            seq += len(step.events)
            out.extend(self._calls(step))

    def _calls(self, step: Step) -> deque[asyncio.Task[None]]:
        return deque(self._loop.create_task(call()) for _ in range(step.calls))

    def create(self, id_: Id, step: Step) -> asyncio.Future[None]:
        """Write the first append of an execution that goes on."""
        return self._create(id_, step, "running", OWNER, now() + LEASE, [])

    def ask(self, id_: Id, step: Step, point: str, asked: Asked) -> asyncio.Future[None]:
        """Write the first append of an execution that rests at a pause point."""
        at = now()
        self._resting.add(id_)
        opened: Statement = (_OPEN, (point, asked.kind, "open", at, asked.opened, None, id_))
        return self._create(id_, step, "paused", None, asked.due(at), [opened])

    async def answer(self, id_: Id, _step: Step, point: str, asked: Asked) -> None:
        """Write an answer to a pause point, into the queue of its execution and onto the point; then take it up."""
        at = now()
        queued: Statement = (_COMMAND, (id_, 1, at, "Answer", asked.command, f"once:{point[:16]}", 0))
        await self._submit((_ENQUEUE, (at, id_)), (), [queued, (_CHANGE, ("answered", asked.answered, point))])
        await self.claim(id_)

    def claim(self, id_: Id) -> asyncio.Future[None]:
        """Take up an execution."""
        return self._submit((_CLAIM, (OWNER, now() + LEASE, 0, id_)), (), [])

    def append(
        self, id_: Id, seq: int, step: Step, lease: Lease, *, closing: bool = False, point: str | None = None
    ) -> asyncio.Future[None]:
        """Write a later append: compared on the head row; with it, the end of the execution, or of a pause point."""
        at, last_seq, (epoch, seen) = now(), seq + len(step.events), lease
        more: list[Statement] = [] if point is None else [(_CLOSE, ("applied", at, point))]
        if closing:
            more.append((_FINISH, (at, "executed", "", id_)))
            head: Statement = (_REST, (last_seq, epoch, "completed", seen, None, at, None, id_, OWNER, seq))
        elif id_ in self._resting:
            self._resting.remove(id_)
            head = (_APPEND, (last_seq, epoch, "running", seen, at, id_, OWNER, seq))
        else:
            head = (_APPEND_ALIKE, (last_seq, epoch, seen, id_, OWNER, seq, "running"))
        return self._submit(head, (id_, seq + 1, len(step.events), at, encode_events(step.events)), more)

    def _create(
        self, id_: Id, step: Step, status: str, owner: str | None, wake_at: int | None, more: list[Statement]
    ) -> asyncio.Future[None]:
        at, count = now(), len(step.events)
        head: Statement = (
            _HEAD,
            (id_, WORKFLOW, status, 0, count - 1, 1, owner, wake_at, at if status == "paused" else None, at),
        )
        execution: Statement = (_EXECUTION, (id_, at, None, None, None, None, step.input, WORKFLOW, WORKFLOW))
        return self._submit(head, (id_, 0, count, at, encode_events(step.events)), [execution, *more])

    # The writer

    def _submit(self, head: Statement, entry: Values, more: list[Statement]) -> asyncio.Future[None]:
        done: asyncio.Future[None] = self._loop.create_future()
        with self._wanted:
            self._waiting.append(_Append(head, entry, more, done))
            self._wanted.notify()
        return done

    def _run(self) -> None:
        while True:
            with self._wanted:
                while not self._waiting and not self._stopped:
                    self._wanted.wait()
                group, self._waiting = self._waiting, []
            if not group:
                self._db.close()
                return
            try:
                self._write(self._db, group)
            except Exception as error:  # noqa: BLE001 - it ends the measurement, which would wait for ever otherwise
                self._db.execute("ROLLBACK")
                self._loop.call_soon_threadsafe(_fail, group, error)
                continue
            self.transactions += 1
            self._loop.call_soon_threadsafe(_tell, group)

    def _write(self, db: apsw.Connection, group: list[_Append]) -> None:
        cursor = db.cursor()
        entries: list[Values] = []
        cursor.execute("BEGIN IMMEDIATE")
        for one in group:
            cursor.execute(*one.head)
            assert db.changes() == 1
            if one.entry:
                entries.append(one.entry)
            for statement in one.more:
                cursor.execute(*statement)
        cursor.executemany(_ENTRY, entries)
        cursor.execute("COMMIT")


def _tell(group: list[_Append]) -> None:
    for one in group:
        if not one.done.done():  # a task that was cancelled meanwhile no longer waits
            one.done.set_result(None)


def _fail(group: list[_Append], error: Exception) -> None:
    for one in group:
        if not one.done.done():
            one.done.set_exception(error)


async def call() -> None:
    """Do what a call does that does nothing."""


def now() -> int:
    """Return the time in milliseconds."""
    return int(time() * 1000)
