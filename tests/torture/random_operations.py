"""What is done to executions while they run: by people, by operators, by systems outside, all by chance."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from layover import InvalidDefinition, LayoverError
from layover.core.engine.signals import awaited_signals
from layover.errors import NotFound
from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import CLOSED
from layover.ports.view_records import ExecutionFilter, PointFilter
from layover.runtime.operations.start_options import Options

from .workflows import LANES, make, name_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from random import Random

    from layover.ports.records import PointRow
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.runtime import Runtime

    from .functions import World

PEOPLE = ("ann", "bob", "cho")
OPEN = ("pending", "running", "pausing", "waiting", "paused")
_MOST_OPEN = 80
_PATIENCE = 20  # seconds: whoever is asked may have been stopped, or wait for one that was
_PURGED_AFTER = 500
# What gets on is done more often than what stops it.
_OFTEN = {
    "start": 14, "answer": 20, "deliver": 6, "reply": 8, "pause": 3, "resume": 6, "cancel": 1, "retry": 5, "rewind": 2,
    "cancel_point": 1, "purge": 2, "look": 4, "renew": 1,
}  # fmt: skip


class Promise(NamedTuple):
    """An answer or a reply that was taken: it must be in the log, unless nobody waits for it any more."""

    execution_id: str
    point: str
    by: str = ""


class RandomOperations:
    """All that can be done, on one engine."""

    def __init__(self, engine: Runtime, world: World, seed: int, chance: Random, flows: int) -> None:
        self._engine = engine
        self._world = world
        self._seed = seed
        self._chance = chance
        self._flows = flows
        self._kinds = [name for name, often in _OFTEN.items() for _ in range(often)]
        self._editions: Counter[int] = Counter()
        self._keyed: set[str] = set()
        self.done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.problems: list[str] = []
        self.acknowledged: dict[str, str] = {}
        self.promised: list[Promise] = []
        self.purged: set[str] = set()
        self.rows: list[ExecutionRow] = []
        self.points: list[PointRow] = []

    async def register(self) -> None:
        """Make the workflows known."""
        for number in range(self._flows):
            await self._engine.workflows.register(make(self._seed, number))

    async def look_around(self) -> None:
        """See which executions there are, newest first, and which points are open."""
        store = self._engine.instance.store
        self.rows = await store.queries.list_executions(ExecutionFilter(limit=300))
        self.points = await store.queries.list_points(PointFilter(status=("open", "answered"), limit=1_000))

    async def do_something(self) -> None:
        """Do one thing, chosen by chance, to something chosen by chance."""
        name = self._chance.choice(self._kinds)
        deed: Callable[[], Awaitable[object]] = getattr(self, f"_{name}")
        await self.attempt(name, deed)

    async def attempt(self, name: str, deed: Callable[[], Awaitable[object]]) -> None:
        """Do one thing; that it is refused is fine, that it breaks is not."""
        try:
            async with asyncio.timeout(_PATIENCE):
                await deed()
            self.done[name] += 1
        except (StoreUnavailable, TimeoutError) as error:
            self.refused[f"{name}: {type(error).__name__}"] += 1
        except (InvalidDefinition, StoreError) as error:
            self.problems.append(f"{name}: {error!r}")
        except LayoverError as error:
            self.refused[f"{name}: {error.code}"] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
            self.problems.append(f"{name} raised {error!r}")

    # Operators

    async def _start(self) -> None:
        if sum(1 for row in self.rows if row.head.status not in CLOSED) > _MOST_OPEN:
            return
        chance = self._chance
        workflow = name_of(chance.randrange(self._flows))
        given = {
            "n": chance.choice((0, 2, 5)),
            "items": chance.choice(([], [3, 1], [1, 2, 4])),
            "lane": chance.randint(1, LANES),
        }
        options = Options(
            user=chance.choice((None, *PEOPLE)),
            priority=chance.choice((0, 0, 3)),
            delay=chance.choice((None, None, None, 50, "300ms")),
            tags=("torture",),
        )
        key = f"key-{chance.randrange(40)}" if chance.randrange(4) == 0 else None
        begun = await self._engine.executions.start(workflow, given, key=key, on_conflict="return", options=options)
        self.acknowledged[begun.id] = workflow
        if key is not None:
            self._keyed.add(begun.id)

    async def _pause(self) -> None:
        await self._engine.control.pause(self._execution(*OPEN), "torture", by="op")

    async def _resume(self) -> None:
        await self._engine.control.resume(
            self._execution("paused", "pausing"), {"v": self._chance.randrange(9)}, by="op"
        )

    async def _cancel(self) -> None:
        await self._engine.control.cancel(self._execution(*OPEN), "torture", by="op")

    async def _retry(self) -> None:
        await self._engine.control.retry(self._execution("failed", "waiting", "paused"), by="op")

    async def _rewind(self) -> None:
        id_ = self._execution(*CLOSED, "waiting", "paused")
        nodes = await self._engine.queries.nodes(id_)
        if nodes:
            await self._engine.control.rewind(id_, self._chance.choice(nodes).context_id, "torture", by="op")

    async def _purge(self) -> None:
        store = self._engine.instance.store
        before = self._engine.instance.clock.now() - _PURGED_AFTER
        # A key that is used again begins an execution of the same id, which takes children of the first for its own.
        found = await store.retention.list_purgeable(before, 100, name_of(self._chance.randrange(self._flows)))
        found = [id_ for id_ in found if id_ not in self._keyed][:15]
        self.purged.update(found)
        await store.retention.purge(found)

    async def _renew(self) -> None:
        number = self._chance.randrange(self._flows)
        self._editions[number] += 1
        await self._engine.workflows.register(make(self._seed, number, self._editions[number]))

    async def _look(self) -> None:
        id_ = self._execution()
        await self._engine.queries.why(id_)
        await self._engine.queries.nodes(id_)
        await self._engine.points.list(id_, children=True)
        await self._engine.queries.history(id_)
        await self._engine.queries.get(id_)

    # People

    async def _answer(self) -> None:
        row = self._point("approval", "form")
        await self.answer(row, self._chance.choice(PEOPLE), approved=self._chance.randrange(4) > 0)

    async def answer(self, row: PointRow, by: str, *, approved: bool) -> None:
        """Answer what a person is asked, with whatever they may be asked for."""
        data: dict[str, object] = {"n": 3, "stop": False, "size": 1}
        if row.point.doubt:
            choices = row.point.details["otherwise"]
            assert isinstance(choices, list)
            data = {"happened": approved, "otherwise": self._chance.choice(choices)}
        decision = approved if row.point.kind == "approval" else None
        taken = await self._engine.answers.answer(row.point.id, data, by=by, approved=decision, comment="so be it")
        if not taken.repeated:
            self.promised.append(Promise(row.execution_id, row.point.id, by if row.point.kind == "approval" else ""))

    async def _cancel_point(self) -> None:
        await self._engine.answers.cancel_point(self._point().point.id, "torture")

    # Systems outside

    async def _deliver(self) -> None:
        awaited = [pair for row in self.points for pair in awaited_signals(row.point)]
        name, key = self._chance.choice([*awaited, ("s", "2"), ("s", "")])
        id_ = f"signal-{self._chance.randrange(500)}" if self._chance.randrange(4) == 0 else None
        await self._engine.signals.deliver(name, key, self._chance.choice((1, 1, "x")), id=id_)

    async def _reply(self) -> None:
        chance = self._chance
        tokens = await asyncio.to_thread(self._world.lines, "tokens")
        row: PointRow | None = None
        if tokens and chance.randrange(3):
            _, token = chance.choice(tokens[-100:])
            point = None
        else:
            row = self._point("callback")
            token, point = None, row.point.id
        match chance.choice(("reply", "reply", "reply", "fail", "beat")):
            case "reply":
                await self._engine.callbacks.reply(token, {"n": 1}, point=point)
                if row is not None:
                    self.promised.append(Promise(row.execution_id, row.point.id))
            case "fail":
                await self._engine.callbacks.fail(token, "no", point=point)
            case _:
                await self._engine.callbacks.beat(token, point=point)

    # What it is done to

    def _execution(self, *status: str) -> str:
        """Return an execution, nearly always in one of some statuses if there is one."""
        found = [row for row in self.rows if row.head.status in status and self._chance.randrange(20)] or self.rows
        if not found:
            raise NotFound("There is none yet.", code="unknown_execution")
        return self._chance.choice(found).head.execution_id

    def _point(self, *kinds: str) -> PointRow:
        found = [row for row in self.points if not kinds or row.point.kind in kinds]
        if not found:
            raise NotFound("No such point is open.", code="unknown_execution")
        return self._chance.choice(found)
