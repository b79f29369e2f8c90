"""Fifty people decide one quorum at once, on several instances, again and again; judge the log by what they were told.

    python tools/quorum_races.py --seed 7 --rounds 1000 [--people 50] [--instances 3] [--postgres]

In each round every person approves or rejects through some instance, all at the same time, and some press the button
twice, the second time on another instance. Then the log has to say: one answer, the one that the decisions reached
first; each decision that was accepted, once; and none that was refused. What went wrong is printed with its seed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.servers.postgres import PostgresServer

from layover import AnswerRefused, Engine, Settings, WrongState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover import Event, ExecutionHandle

SETTINGS = Settings(poll="200ms")
TWICE = 0.2  # of the people press a button twice
ROLES = ["approver"]


class Said(NamedTuple):
    """What a person decided, and whether they were told that it counts."""

    user: str
    approved: bool
    accepted: bool


def definition(name: str, people: int, need: int, reject_need: int) -> dict[str, Any]:
    """Return an approval that takes so many of the people."""
    approvers = {"users": [f"person-{n}" for n in range(people)]}
    node = {"id": "ok", "type": "approval", "need": need, "reject_need": reject_need, "approvers": approvers}
    ends = [{"id": "yes", "type": "end", "output": "approved"}, {"id": "no", "type": "end", "output": "rejected"}]
    return {"name": name, "nodes": [{**node, "next": {"approved": "yes", "rejected": "no"}}, *ends]}


async def decide(engine: Engine, point_id: str, user: str, *, approved: bool) -> Said:
    """Decide as a person, through one instance."""
    point = await engine.as_user(user, ROLES).point(point_id)
    try:
        await (point.approve() if approved else point.reject())
    except (AnswerRefused, WrongState):
        return Said(user, approved, accepted=False)
    return Said(user, approved, accepted=True)


async def play(engines: list[Engine], dice: Random, people: int, number: int) -> list[str]:
    """Let all people decide at once, and return what is not as it must be."""
    need, reject_need = dice.randint(1, people), dice.randint(1, people)
    name = f"quorum-{number}"
    await engines[0].register(definition(name, people, need, reject_need))
    execution = await dice.choice(engines).start(name, until="people")
    point_id = (await execution.point("ok")).id
    share = dice.random()
    acts: list[tuple[Engine, str, bool]] = []
    for n in range(people):
        approved = dice.random() < share
        times = 2 if dice.random() < TWICE else 1
        acts += [(dice.choice(engines), f"person-{n}", approved) for _ in range(times)]
    dice.shuffle(acts)
    said = await asyncio.gather(*(decide(engine, point_id, user, approved=approved) for engine, user, approved in acts))
    result = await execution.result(timeout="60s")
    return await judge(execution, result, said, Quorum(people, need, reject_need))


class Quorum(NamedTuple):
    """How many people are asked, and how many of them decide."""

    people: int
    need: int
    reject_need: int

    def outcome(self, decisions: list[tuple[str, bool]]) -> str | None:
        """Return what decisions add up to: counted here, without the rules of the engine."""
        yes = sum(approved for _, approved in decisions)
        no = len(decisions) - yes
        if yes >= self.need:
            return "approved"
        return "rejected" if no >= self.reject_need or self.people - no < self.need else None


async def judge(execution: ExecutionHandle, result: object, said: list[Said], quorum: Quorum) -> list[str]:
    """Return what the log says otherwise than the people were told."""
    history: list[Event] = await execution.history().all()
    decided = [one.data["decision"] for one in history if one.type == "PausePointDecided"]
    answers = [one for one in history if one.type == "PausePointAnswered"]
    decisions = [(one["by"], one["approved"]) for one in decided]
    problems = [
        f"{by} is counted {times} times" for by, times in Counter(by for by, _ in decisions).items() if times > 1
    ]
    if len(answers) != 1:
        problems.append(f"{len(answers)} answers")
    if quorum.outcome(decisions) != result:
        problems.append(f"{quorum} and {decisions} came to {result}")
    if quorum.outcome(decisions[:-1]) is not None:
        problems.append(f"{quorum} was decided before the last of {decisions}")
    accepted = {(one.user, one.approved) for one in said if one.accepted}
    problems += [f"{one} was accepted and is not in the log" for one in sorted(accepted - {*decisions})]
    problems += [f"{one} was refused and is in the log" for one in sorted({*decisions} - accepted)]
    return problems


@contextmanager
def database(folder: Path, *, postgres: bool) -> Iterator[str]:
    """Give the address of an empty database."""
    if not postgres:
        yield f"sqlite:///{folder / 'quorum.db'}"
        return
    server = PostgresServer()
    try:
        server.start()
        yield f"{server.address()}?schema=quorum"
    finally:
        server.close()


async def rounds(address: str, options: argparse.Namespace) -> int:
    """Play all rounds; return how many went wrong."""
    wrong = 0
    async with AsyncExitStack() as stack:
        engines = [
            await stack.enter_async_context(Engine(address, settings=SETTINGS)) for _ in range(options.instances)
        ]
        for number in range(options.rounds):
            seed = options.seed * 1_000_000 + number
            problems = await play(engines, Random(seed), options.people, number)  # noqa: S311 - it can be repeated
            wrong += bool(problems)
            for one in problems:
                print(f"round {number} (seed {seed}): {one}")
    return wrong


def main() -> int:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1_000)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--postgres", action="store_true", help="on a server of its own, instead of a file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, database(Path(folder), postgres=options.postgres) as address:
        wrong = asyncio.run(rounds(address, options))
    print(f"{options.people} people on one quorum, {options.rounds} times: {wrong} went wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
