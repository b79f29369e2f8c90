"""People at pause points who have second thoughts: they take answers back, claim points, ask back and reply.

Take-backs race with the end of their window, with deadlines, and with all that operators do. Claims are kept short, so
that an execution which waits for another person goes on.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.core.engine import commands as cmd
from layover.core.engine.undo_windows import waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from layover.core.engine.conversations import TalkCommand
    from layover.ports.records import PointRow
    from layover.runtime.runtime import Runtime
    from layover.testing.simulation.world import World

_TAKES_BACK_EVERY = 5.0  # seconds, while there is something to take back
_TALKS_EVERY = 25.0
_TOO_LATE = 0.1  # of those who are rash come to a point that is closed
_LONGEST_CLAIM = 40_000  # milliseconds
_TAKES = 0.2  # of the claims, also from another person
_TWICE = 0.15  # of the acts, under the same key
_MOST_QUESTIONS = 4  # at one point
_PEOPLE = 3
ROLES = ("boss",)


class Conversations:
    """Everybody who does something else at a pause point than to answer it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._acts = 0

    def begin(self) -> None:
        """Have them all at work."""
        self._world.outside.begin(self._have_second_thoughts())
        self._world.outside.begin(self._talk())

    # Taking back

    async def _have_second_thoughts(self) -> None:
        world = self._world
        while True:
            row, by = await world.loop.look_until(
                lambda: world.chance.expovariate(1 / _TAKES_BACK_EVERY), self._choose_answer
            )
            if world.requests.is_rash():
                both = [self._take_back(row, by), self._take_back(row, by)]
                await asyncio.wait([world.outside.begin(one) for one in both])
            else:
                await self._take_back(row, by)

    def _choose_answer(self) -> tuple[PointRow, str] | None:
        """Choose what a person has answered and may take back; now and then it is final, or was another's answer."""
        world = self._world
        if world.loop.time() > world.heals_at:
            return None
        rows = [row for row in world.database.points.values() if row.point.undo]
        is_rash = bool(rows) and world.requests.is_rash()
        is_late = is_rash and world.chance.random() < _TOO_LATE
        found = [
            (row, by) for row in rows if is_late or row.closed_at is None for by in _revocable(row, is_rash=is_rash)
        ]
        return world.chance.choice(found) if found else None

    async def _take_back(self, row: PointRow, by: str) -> None:
        world, point = self._world, row.point.id
        key, seq = self._next_key(), world.oracle.last_seq(row.execution_id)
        world.noted(world.outside, f"take back {row.point.node} of {row.execution_id}")
        world.counts["take_backs"] += 1
        for _ in range(1 + (world.chance.random() < _TWICE)):
            await world.requests.ask(
                lambda engine: engine.answers.take_back(point, by=by, key=key),
                lambda view: world.oracle.spoken.took_back(point, by, seq, view),
                world.requests.patience(),
            )

    # Talking

    async def _talk(self) -> None:
        world = self._world
        while True:
            act = await world.loop.look_until(lambda: world.chance.expovariate(1 / _TALKS_EVERY), self._choose_act)
            await act

    def _choose_act(self) -> Coroutine[None, None, None] | None:
        """Choose an open point, and what is done there."""
        world = self._world
        if world.loop.time() > world.heals_at:
            return None
        rows = [one for one in world.database.points.values() if one.point.kind in ("form", "approval")]
        if not self._is_late():
            rows = [one for one in rows if one.status == "open"]
        if not rows:
            return None
        row, by = world.chance.choice(rows), self._person()
        unreplied = [one for one in row.point.questions if one.reply is None]
        if unreplied and world.chance.random() < 0.5:
            return self._reply(row, unreplied[0].to)
        if row.point.claim is not None and world.chance.random() < 0.5:
            return self._release(row, row.point.claim.by)
        if len(row.point.questions) < _MOST_QUESTIONS and world.chance.random() < 0.5:
            return self._ask(row, by)
        return self._claim(row, by)

    async def _claim(self, row: PointRow, by: str) -> None:
        length, take = self._world.chance.randrange(1, _LONGEST_CLAIM), self._world.chance.random() < _TAKES
        await self._do(
            row,
            "claim",
            lambda now: cmd.ClaimPoint(point=row.point.id, by=by, roles=ROLES, take=take, at=now, until=now + length),
        )

    async def _release(self, row: PointRow, by: str) -> None:
        await self._do(row, "give back", lambda now: cmd.ReleaseClaim(point=row.point.id, by=by, at=now))

    async def _ask(self, row: PointRow, by: str) -> None:
        question, to = f"Why {self._acts}?", self._person()
        await self._do(
            row,
            "ask back at",
            lambda now: cmd.AskBack(point=row.point.id, by=by, roles=ROLES, question=question, to=to, at=now),
        )

    async def _reply(self, row: PointRow, by: str) -> None:
        text = f"Because {self._acts}."
        await self._do(row, "reply at", lambda now: cmd.ReplyBack(point=row.point.id, by=by, text=text, at=now))

    async def _do(self, row: PointRow, what: str, make: Callable[[int], TalkCommand]) -> None:
        """Do something at a point; now and then twice under the same key."""
        world, key = self._world, self._next_key()
        world.noted(world.outside, f"{what} {row.point.node} of {row.execution_id}")

        async def act(engine: Runtime) -> TalkCommand:
            made = make(engine.instance.clock.now())
            taken = await engine.answers.talk(made, key=key)
            world.oracle.spoken.said(row.execution_id, made, repeated=taken.repeated)
            return made

        for _ in range(1 + (world.chance.random() < _TWICE)):
            await world.requests.ask(act, None, world.requests.patience())

    def _is_late(self) -> bool:
        return self._world.requests.is_rash() and self._world.chance.random() < _TOO_LATE

    def _person(self) -> str:
        return f"person-{self._world.chance.randrange(_PEOPLE)}"

    def _next_key(self) -> str:
        self._acts += 1
        return f"said-{self._acts}"


def _revocable(row: PointRow, *, is_rash: bool) -> list[str]:
    """Return the people whose answers at a point may be taken back, or could have been."""
    point = row.point
    if point.kind == "form":
        return [point.by] if point.by is not None and (point.is_revocable or row.closed_at is not None) else []
    decisions = point.decisions if is_rash else waiting(point.decisions)
    return [one.by for one in decisions]
