"""Random plays under limits: whatever is done on two engines, no more run at once than may, and all get a turn."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events
from layover.errors import LimitReached, WrongState
from layover.nodes.context import NodeContext  # noqa: TC001 - a registry reads the annotations of functions
from layover.ports.records import CLOSED
from layover.runtime.maintenance.verify import violations
from layover.runtime.operations.start_options import Options
from tests.conftest import FACTOR
from tests.runtime.harness import Refused, address_in, call, engine_at, flow
from tests.runtime.tables import Tables

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

STEPS = 60
KEYS = ("ann", "bob")
OPEN = """
    SELECT e.body FROM events AS e JOIN heads AS h ON h.execution_id = e.execution_id
    WHERE h.status NOT IN ('completed', 'failed', 'cancelled') ORDER BY e.execution_id, e.seq
"""


class Watched:
    """A function whose calls end when the play says so; at each it is counted who has started and is not closed."""

    __name__ = "work"

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.out: dict[str, asyncio.Future[None]] = {}
        self.most = 0

    async def __call__(self, context: NodeContext) -> None:
        self._count()
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.out[context.execution_id] = ended
        await ended

    def _count(self) -> None:
        found: Counter[object] = Counter()
        key: object = None
        for (body,) in self._tables.rows(OPEN):
            for event in decode_events(body):
                if isinstance(event, ev.ExecutionCreated):
                    key = event.input
                elif isinstance(event, ev.ExecutionStarted):
                    found[key] += 1
        self.most = max(self.most, *found.values())

    def let_go(self, execution_id: str, *, badly: bool = False) -> None:
        ended = self.out.pop(execution_id)
        if not ended.done():
            ended.set_exception(Refused("no")) if badly else ended.set_result(None)


@pytest.mark.parametrize("on_conflict", ["queue", "reject", "cancel_running"])
@pytest.mark.parametrize("seed", range(2 * FACTOR))
async def test_no_more_run_at_once_than_may(tmp_path: Path, seed: int, on_conflict: str) -> None:
    chance = random.Random(f"{seed} {on_conflict}")  # noqa: S311 - it keeps no secret
    limit = chance.choice((1, 2))
    work = Watched(Tables(address_in(tmp_path)))
    concurrency = {"key": "${input}", "limit": limit, "on_conflict": on_conflict}
    async with engine_at(tmp_path, work) as one, engine_at(tmp_path, work) as two:
        await one.workflows.register(flow(call("a"), settings={"concurrency": concurrency}))
        begun: list[str] = []
        for _ in range(STEPS):
            await _play(chance, chance.choice((one, two)), work, begun)
        assert begun
        for id_ in begun:
            await _bring_to_its_end(one, work, id_)
        assert 1 <= work.most <= limit
        for id_ in begun:
            while await one.instance.store.outbox.list_undelivered(id_):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0)
            assert await one.instance.store.limits.find_admission(id_) is None
        assert await violations(one.instance.store) == []


async def _play(chance: random.Random, engine: Runtime, work: Watched, begun: list[str]) -> None:
    """Make one move, if it can be made."""
    move = chance.choice(("start", "start", "start", "end", "end", "fail", "cancel", "pause", "resume"))
    with suppress(WrongState, LimitReached):
        if move == "start":
            options = Options(priority=chance.randint(-2, 2))
            begun.append((await engine.executions.start("flow", chance.choice(KEYS), options=options)).id)
        elif move in ("end", "fail") and work.out:
            work.let_go(chance.choice(sorted(work.out)), badly=move == "fail")
        elif begun and move in ("cancel", "pause", "resume"):
            await getattr(engine.control, move)(chance.choice(begun))


async def _bring_to_its_end(engine: Runtime, work: Watched, execution_id: str) -> None:
    """Let everything go that runs or is held, until an execution is closed: any of them may be in its way."""
    while (await engine.queries.get(execution_id)).status not in CLOSED:
        for running in list(work.out):
            work.let_go(running)
        for row in await engine.lists.list(status=["paused"]):
            with suppress(WrongState):
                await engine.control.resume(row.head.execution_id)
