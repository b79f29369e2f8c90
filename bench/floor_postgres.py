"""The floor under the runtime on PostgreSQL: the least that has to happen so that a step is durable, and nothing else.

An event loop, one task per call, and two lanes: while one group of appends is on its way, the next gathers. It writes
the rows that the engine writes: the same tables (made by our own migrations), the same one statement for a group, the
same events as bytes, the same comparison on the head row, the same durability; and every step waits for its commit.
The driver is used as it comes: prepared statements on connections of its own. There is no engine: the events come from
a log that was recorded, nothing is decided, and an append that does not pass ends the measurement.

Answers are gathered as appends are: theirs is the statement by which the engine writes them, with what the engine has
to read before known already; it takes up the executions as well. Timers that come due at the same moment are taken up
together.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

from floor import FIRST, LEASE, OWNER, WORKFLOW, call, now
from layover.core.engine.codec import encode_events
from layover.runtime.ids import new_id
from layover.stores.postgres import PostgresStore
from layover.stores.postgres.address import read_address
from layover.stores.postgres.appends import sent_once
from layover.stores.postgres.commit_statements import MOVES, NEW, RESTING_MOVES, commit_statement
from layover.stores.postgres.connections import connect
from layover.stores.postgres.statements import in_schema, statements

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import asyncpg

    from floor import Asked, Id, Lease, Step

T = TypeVar("T")
Row: TypeAlias = tuple[object, ...]

LANES, OTHERS = 2, 6

_CLAIM = "UPDATE layover.heads SET owner = $1, epoch = epoch + 1, wake_at = $2 WHERE execution_id = ANY ($3::uuid[])"
_MOVED = ("ids", "owners", "epochs", "expected", "seen", "totals", "status", "counts", "at", "bodies")
_TOLD_ONCE = {"owners", "epochs", "seen", "totals", "status", "counts"}
_COLUMNS = {
    NEW: (
        *("new_ids", "new_workflows", "new_hashes", "new_created_at", "new_priorities", "new_status", "new_epochs"),
        *("new_owners", "new_wake_at", "new_missing", "new_users", "new_parents", "new_correlation_ids", "new_tags"),
        *("new_counts", "new_at", "new_bodies", "new_last_seq", "new_finished_at", "new_outcomes", "new_error_codes"),
        *("new_inputs", "new_resumes"),
    ),
    MOVES: _MOVED,
    RESTING_MOVES: (*_MOVED, "rests", "since", "wake_at", "missing"),
    "opened": (
        *("opened_ids", "opened_points", "opened_kinds", "opened_status"),
        *("opened_at", "opened_closed_at", "opened_bodies", "opened_schemas", "opened_workflows"),
    ),
    "changed": ("changed_ids", "changed_points", "changed_status", "changed_closed_at", "changed_bodies"),
    "unwaited": ("unwaited_ids", "unwaited_points"),
    "ended": ("ended_ids", "ended_at", "ended_outcomes", "ended_error_codes"),
}


class _Append(NamedTuple):
    """The rows of one append, by the part of the statement that they belong to."""

    part: str
    row: Row
    more: dict[str, Row]


class _Gathering(Generic[T]):
    """What waits is written together, by at most so many lanes at once."""

    def __init__(self, write: Callable[[int, list[T]], Awaitable[None]], lanes: int) -> None:
        self._write = write
        self._waiting: list[tuple[T, asyncio.Future[None]]] = []
        self._loop = asyncio.get_running_loop()
        self._wanted = [asyncio.Event() for _ in range(lanes)]
        self._idle = deque(range(lanes))
        self._tasks = [self._loop.create_task(self._run(lane)) for lane in range(lanes)]

    def submit(self, one: T) -> asyncio.Future[None]:
        done: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append((one, done))
        if self._idle:
            self._wanted[self._idle.popleft()].set()
        return done

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, lane: int) -> None:
        while True:
            await self._wanted[lane].wait()
            self._wanted[lane].clear()
            while self._waiting:
                group, self._waiting = self._waiting, []
                try:
                    await self._write(lane, [one for one, _ in group])
                except Exception as error:  # noqa: BLE001 - it ends the measurement
                    for _, done in group:
                        done.set_exception(error)
                    continue
                for _, done in group:
                    done.set_result(None)
                await asyncio.sleep(0)  # those who were just told may have something to write, which then goes along
            self._idle.append(lane)


class PostgresFloor:
    """A bare loop over one schema of a database."""

    def __init__(self, address: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._given = address
        self._address = read_address(address)
        self._sql = statements(self._address.schema)
        self._claim = in_schema(_CLAIM, self._address.schema)
        self._lanes: list[asyncpg.Connection] = []
        self._prepared: list[dict[frozenset[str], Any]] = [{} for _ in range(LANES)]
        self._others: asyncio.LifoQueue[asyncpg.Connection] = asyncio.LifoQueue()
        self.statements = 0

    async def __aenter__(self) -> Self:
        store = PostgresStore(self._given)
        await store.open(OWNER)
        await store.definitions.save(WORKFLOW, WORKFLOW, b"{}", now())
        await store.close()
        self._lanes = [await self._connection() for _ in range(LANES)]
        for _ in range(OTHERS):
            self._others.put_nowait(await self._connection())
        self._appends = _Gathering(self._write, LANES)
        self._answers = _Gathering(self._take, LANES)
        self._claims = _Gathering(self._take_up, 1)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._appends.close()
        await self._answers.close()
        await self._claims.close()
        for connection in (*self._lanes, *(self._others.get_nowait() for _ in range(OTHERS))):
            await connection.close()

    async def _connection(self) -> asyncpg.Connection:
        """Open a connection with the settings of ours; ids are left to the driver."""
        connection = await connect(self._address, "floor")
        await connection.reset_type_codec("uuid", schema="pg_catalog")
        return connection

    async def fetch(self, statement: str, *values: object) -> list[asyncpg.Record]:
        """Run a statement on a connection that is free."""
        connection = await self._others.get()
        try:
            self.statements += 1
            return await connection.fetch(statement, *values)
        finally:
            self._others.put_nowait(connection)

    # What executions do

    def new_id(self) -> Id:
        """Return an id for an execution."""
        return new_id(now())

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
        return self._create(id_, step, "running", OWNER, now() + LEASE, {})

    def ask(self, id_: Id, step: Step, point: str, asked: Asked) -> asyncio.Future[None]:
        """Write the first append of an execution that rests at a pause point."""
        at = now()
        opened: Row = (id_, point, asked.kind, "open", at, None, asked.opened, None, WORKFLOW)
        return self._create(id_, step, "paused", None, asked.due(at), {"opened": opened})

    async def answer(self, id_: Id, step: Step, point: str, asked: Asked) -> None:
        """Write an answer to a pause point, and take up its execution."""
        at, source = now(), f"once:{point[:16]}"
        head = (id_, len(step.events) - 1, 0, "paused")
        command = (at, "Answer", asked.command, source, 0)
        await self._answers.submit((*head, point, "answered", asked.answered, *command, OWNER, at + LEASE, LEASE))

    def claim(self, id_: Id) -> asyncio.Future[None]:
        """Take up an execution."""
        return self._claims.submit(id_)

    def append(
        self, id_: Id, seq: int, step: Step, lease: Lease, *, closing: bool = False, point: str | None = None
    ) -> asyncio.Future[None]:
        """Write a later append: compared on the head row; with it, the end of the execution, or of a pause point."""
        at, count, (epoch, seen) = now(), len(step.events), lease
        status = "completed" if closing else "running"
        body = encode_events(step.events)
        moved: Row = (id_, OWNER, epoch, seq, seen, count, status, count, at, body, closing, None, None, None)
        more: dict[str, Row] = {}
        if point is not None:
            more["changed"] = (id_, point, "applied", at, None)
            more["unwaited"] = (id_, point)
        if closing:
            more["ended"] = (id_, at, "executed", "")
        return self._appends.submit(_Append(RESTING_MOVES if closing else MOVES, moved, more))

    def _create(
        self, id_: Id, step: Step, status: str, owner: str | None, wake_at: int | None, more: dict[str, Row]
    ) -> asyncio.Future[None]:
        at, count = now(), len(step.events)
        head: Row = (id_, WORKFLOW, WORKFLOW, at, 0, status, 1, owner, wake_at)
        execution: Row = (None, None, None, None, None)
        entry: Row = (count, at, encode_events(step.events), count - 1)
        return self._appends.submit(_Append(NEW, (*head, *execution, *entry, None, None, None, step.input, 0), more))

    # The lanes

    async def _write(self, lane: int, group: list[_Append]) -> None:
        rows: defaultdict[str, list[Row]] = defaultdict(list)
        for one in group:
            rows[one.part].append(one.row)
            for part, row in one.more.items():
                rows[part].append(row)
        if RESTING_MOVES in rows and MOVES in rows:
            rows[RESTING_MOVES] += rows.pop(MOVES)
        values = {
            column: sent_once(list(cells)) if column in _TOLD_ONCE else list(cells)
            for part, found in rows.items()
            for column, cells in zip(_COLUMNS[part], zip(*found, strict=True), strict=False)
        }
        parts = frozenset(rows)
        statement = commit_statement(self._address.schema, parts)
        prepared = self._prepared[lane].get(parts)
        if prepared is None:
            prepared = self._prepared[lane][parts] = await self._lanes[lane].prepare(statement.text)
        self.statements += 1
        refused = await prepared.fetch(*(values[name] for name in statement.values))
        assert not refused, refused

    async def _take(self, _lane: int, answers: list[Row]) -> None:
        columns = [list(column) for column in zip(*answers, strict=True)]
        assert len(await self.fetch(self._sql["write_answers"], *columns)) == len(answers)

    async def _take_up(self, _lane: int, ids: list[Id]) -> None:
        await self.fetch(self._claim, OWNER, now() + LEASE, sorted(ids))
