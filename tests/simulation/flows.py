"""What is simulated: a little of everything, with functions that fail, hang, block and kill as the seed says."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from layover.nodes.context import NodeContext  # noqa: TC001 - the registry reads the annotation
from layover.testing.simulation.lives import LIFE
from layover.testing.simulation.scenario import Scenario, Start

if TYPE_CHECKING:
    from random import Random

    from layover.ports.records import PointRow
    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.world import World

_FORM: dict[str, Any] = {"title": "Say it", "schema": {"type": "object"}}
_GIVEN: dict[str, Any] = {"input": {"n": "${input.n}"}}
_TRIES: dict[str, Any] = {"timeout": "20s", "retry": {"max_attempts": 4, "delay": "1s"}, **_GIVEN}


def _node(id_: str, type_: str, next_: str = "", **fields: object) -> dict[str, object]:
    usual: dict[str, object] = {"work": _TRIES, "quick": _GIVEN, "threaded": _GIVEN}.get(type_, {})
    return {"id": id_, "type": type_, **usual, **fields, **({"next": next_} if next_ else {})}


WORKFLOWS: list[dict[str, object]] = [
    {
        "name": "steps",
        "nodes": [
            _node("a", "work", "ask"),
            _node("ask", "form", "b", **_FORM),
            _node("b", "threaded", "c"),
            _node("c", "work", "nap"),
            _node("nap", "delay", "d", duration="15s"),
            _node("d", "work"),
        ],
    },
    {
        "name": "wide",
        "nodes": [
            {"id": "each", "type": "parallel", "for_each": "[1, 2, 3]", "body": [_node("w", "work")], "next": "ask"},
            _node("ask", "form", **_FORM),
        ],
    },
    {
        "name": "limited",
        "settings": {"concurrency": {"limit": 2, "on_conflict": "queue"}},
        "nodes": [_node("q", "quick", "w"), _node("w", "work", "r"), _node("r", "quick")],
    },
    {
        "name": "leg",
        "settings": {"durability": "leg"},
        "nodes": [
            _node("q1", "quick", "q2"),
            _node("q2", "quick", "w"),
            _node("w", "work", "ask"),
            _node("ask", "form", "q3", **_FORM),
            _node("q3", "quick"),
        ],
    },
    {
        "name": "family",
        "nodes": [
            _node("kid", "workflow", "w", workflow="limited", on_error="continue", **_GIVEN),
            _node("w", "work", "review"),
            _node("review", "approval", "done", title="May it go?"),
            _node("done", "quick"),
        ],
    },
    {
        "name": "halves",
        "nodes": [
            {
                "id": "both",
                "type": "parallel",
                "on_failure": "wait",
                "branches": [
                    {"id": "l", "body": [_node("l1", "work", "l2"), _node("l2", "threaded")]},
                    {"id": "r", "body": [_node("r1", "quick", "r2"), _node("r2", "form", **_FORM)]},
                ],
                "next": "last",
            },
            _node("last", "quick"),
        ],
    },
]
_NAMES = [str(one["name"]) for one in WORKFLOWS]


def _here() -> tuple[Life, World]:
    life = LIFE.get()
    assert life is not None
    return life, life.world


async def work(context: NodeContext, n: int = 0) -> int:
    """Take a while, and do what the seed says."""
    life, world = _here()
    chance, mixture, is_faulty = world.chance, world.mixture, world.loop.time() < world.heals_at
    draw = chance.random()
    if (draw := draw - mixture.failing_calls) < 0:
        raise ValueError("as it happens")
    if is_faulty and (draw := draw - mixture.hanging_calls) < 0:
        await asyncio.Event().wait()
    if is_faulty and (draw := draw - mixture.blocking_calls) < 0:
        world.stop(life, chance.expovariate(1 / 4))
        await asyncio.sleep(0)
    if is_faulty and draw - mixture.deadly_calls < 0:
        world.oracle.kills[context.execution_id, context.context_id] += 1
        world.crash(life, "killed by a function")
        await asyncio.Event().wait()
    await asyncio.sleep(chance.expovariate(1) if chance.random() < 0.8 else chance.uniform(2, 15))
    return n


async def quick(n: int = 0) -> int:
    """Return at once."""
    return n


def threaded(n: int = 0) -> int:
    """Return what it is given, from a thread."""
    return n + 1


def _start(chance: Random, number: int) -> Start:
    key = str(number) if chance.random() < 0.5 else None
    return Start(_NAMES[number % len(_NAMES)], {"n": number}, key)


def _answer(chance: Random, _row: PointRow) -> object:
    return {"n": chance.randrange(1_000)}


EVERYTHING = Scenario(WORKFLOWS, (work, quick, threaded), _start, _answer)
SCENARIOS = {"everything": EVERYTHING}
