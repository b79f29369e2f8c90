"""The functions of simulated workflows: they fail, hang, block, kill and misbehave as the seed says."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING

from layover.nodes.context import NodeContext, SyncNodeContext  # noqa: TC001 - the registry reads the annotations
from layover.nodes.probes import NOT_HAPPENED, UNKNOWN, Happened, Verdict
from layover.testing.simulation.lives import LIFE
from layover.testing.simulation.lockstep import here

if TYPE_CHECKING:
    from layover.nodes.context import CallContext
    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.world import World

_WILD = (SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, BaseException)
_FAULTS = (
    "failing_calls",
    "hanging_calls",
    "stubborn_calls",
    "wild_calls",
    "unwritable_calls",
    "blocking_calls",
    "deadly_calls",
)
_BLOCKING_RECORDERS = 20  # times as often as other calls: there are few of them
_UNWRITABLE = (object(), float("nan"), "\ud800", {1: 2}, "x" * 1_100_000)


def _here() -> tuple[Life, World]:
    life = LIFE.get()
    assert life is not None
    return life, life.world


def _does(context: CallContext, key: str, *, at_once: bool = True) -> str:
    """Have an effect that is to be had once, at once or after a while; the oracle sees it."""
    life, world = _here()
    world.counts["effects"] += 1
    world.oracle.does(life, context, key, at_once=at_once)
    return key


async def work(context: NodeContext, n: int = 0) -> object:
    """Take a while, and do what the seed says."""
    life, world = _here()
    chance = world.chance
    match _drawn(world):
        case "failing_calls":
            raise ValueError("as it happens")
        case "hanging_calls":
            await asyncio.Event().wait()
        case "stubborn_calls":
            await _not_to_be_stopped(world, chance.uniform(5, 60))
        case "wild_calls":
            raise world.counted("wild_calls", chance.choice(_WILD))
        case "unwritable_calls":
            return world.counted("unwritable_calls", chance.choice(_UNWRITABLE))
        case "blocking_calls":
            world.mishaps.stop(life, chance.expovariate(1 / 4))
            await asyncio.sleep(0)
        case "deadly_calls":
            world.oracle.kills_instance(context.execution_id, context.context_id)
            world.instances.crash(life, "killed by a function")
            await asyncio.Event().wait()
    await asyncio.sleep(chance.expovariate(1) if chance.random() < 0.8 else chance.uniform(2, 15))
    return n


def _drawn(world: World) -> str:
    """Return what goes wrong with a call, if anything does; some go on failing after all else is healed."""
    draw, is_faulty = world.chance.random(), world.loop.time() < world.heals_at
    for name in _FAULTS if is_faulty else _FAULTS[:1]:
        draw -= getattr(world.mixture, name)
        if draw < 0:
            return name
    return ""


async def _not_to_be_stopped(world: World, seconds: float) -> None:
    """Go on for some time, whoever asks to stop."""
    world.counts["stubborn_calls"] += 1
    until = world.loop.time() + seconds
    while world.loop.time() < until:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(until - world.loop.time())


async def quick(n: int = 0) -> int:
    """Return at once."""
    return n


def threaded(n: int = 0) -> int:
    """Return what it is given, from a thread; or fail there, or never return."""
    _, world = _here()
    match _drawn(world):
        case "failing_calls":
            raise ValueError("as it happens")
        case "hanging_calls":
            world.counts["hanging_threads"] += 1
            here().wait(Future[None](), lambda _: None)
        case "wild_calls":
            raise world.counted("wild_calls", world.chance.choice(_WILD))
    return n + 1


async def steady(context: NodeContext, n: int = 0) -> int:
    """Give signs of life for a while, and now and then none."""
    _, world = _here()
    for _ in range(world.chance.randrange(6)):
        context.heartbeat()
        await asyncio.sleep(world.chance.uniform(0.5, 4))
        if world.loop.time() < world.heals_at and world.chance.random() < world.mixture.hanging_calls:
            await asyncio.Event().wait()
    return n


async def recorder(context: NodeContext, n: int = 0) -> list[object]:
    """Have effects that are recorded, sleep and ask in between, and fail now and then."""
    life, world = _here()
    if (
        world.loop.time() < world.heals_at
        and world.chance.random() < _BLOCKING_RECORDERS * world.mixture.blocking_calls
    ):
        world.mishaps.stop(life, world.chance.uniform(0.5, 2.5) * world.mixture.settings.lease_ttl / 1000)
        await asyncio.sleep(0)  # it has begun under its lease, and has its first effect when that may be over
    first = await context.once("first", _does, context, "first")
    await context.checkpoint({"n": n})
    await asyncio.sleep(world.chance.expovariate(2))
    await context.sleep("10s")

    async def slow() -> str:
        await asyncio.sleep(world.chance.expovariate(2))
        return _does(context, "second", at_once=False)

    second = await context.once("second", slow)
    if world.chance.random() < world.mixture.failing_calls:
        raise ValueError("as it happens")
    asked = await context.ask("ok", int, "Is it?")
    return [first, second, asked]


def blocking_recorder(context: SyncNodeContext, n: int = 0) -> list[object]:
    """Do the same on a thread, which blocks."""
    _, world = _here()
    first = context.once("first", _does, context, "first")
    context.checkpoint({"n": n})
    context.sleep("5s")
    context.heartbeat()
    second = context.once("second", _does, context, "second")
    if world.chance.random() < world.mixture.failing_calls:
        raise ValueError("as it happens")
    return [first, second, context.ask("ok", int, "Is it?")]


async def hand_over(context: NodeContext, token: str = "", n: int = 0) -> str:
    """Hand something over to somebody who calls back; by then they may have done so."""
    _, world = _here()
    assert token
    await asyncio.sleep(world.chance.expovariate(1 / 3) + n * 0)
    if world.chance.random() < world.mixture.failing_calls:
        raise ValueError("as it happens")
    return context.context_id


async def charge(context: NodeContext, n: int = 0) -> int:
    """Have an effect that a probe can look for."""
    _, world = _here()
    await asyncio.sleep(world.chance.expovariate(1))
    world.ledger[context.idempotency_key] = None
    await asyncio.sleep(world.chance.expovariate(1))
    return n


async def is_charged(context: NodeContext, n: int = 0) -> Happened | Verdict:
    """Tell whether the effect was had; now and then that cannot be told."""
    _, world = _here()
    await asyncio.sleep(world.chance.expovariate(2))
    if world.chance.random() < world.mixture.failing_calls:
        return UNKNOWN
    return Happened(n) if context.idempotency_key in world.ledger else NOT_HAPPENED


async def uncharge(context: NodeContext, n: int = 0) -> None:
    """Take the effect back; now and then that fails."""
    _, world = _here()
    await asyncio.sleep(world.chance.expovariate(2))
    if world.chance.random() < world.mixture.failing_calls:
        raise ValueError(f"{n} cannot be taken back now")
    world.ledger.pop(context.idempotency_key, None)
    await asyncio.sleep(world.chance.expovariate(2))


FUNCTIONS = (work, quick, threaded, steady, recorder, blocking_recorder, hand_over, charge)
PROBES = {"charge": is_charged}
UNDOS = {"charge": uncharge}
