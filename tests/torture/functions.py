"""What the nodes of the torture call, and what they leave in the world: one line for each call, value and token.

A line is written with one call of the system, so that processes may share the file and die at any moment. It need not
survive the machine, so nothing is synced: the disk is for the engine.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
import zlib
from typing import TYPE_CHECKING

from layover.nodes.context import NodeContext, SyncNodeContext  # noqa: TC001 - the registry reads the annotations
from layover.nodes.probes import NOT_HAPPENED, UNKNOWN, Happened
from tests.core.engine.graphs import behave

if TYPE_CHECKING:
    from pathlib import Path

    from layover.nodes.context import CallContext
    from layover.nodes.registry import AnyFunction

SIZE = {"type": "object", "required": ["size"]}


class World:
    """What nodes do outside of the engine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def called(self, context: CallContext) -> None:
        """Keep that a call began."""
        self._write("calls", f"{context.execution_id} {context.context_id} {context.attempt}")

    def made(self, context: CallContext, key: str) -> str:
        """Make a value that there is once in the world."""
        value = secrets.token_hex(8)
        self._write("made", f"{context.execution_id} {context.context_id} {key} {value}")
        return value

    def seen(self, context: CallContext, key: str, value: object) -> None:
        """Keep which value a function was given for a key."""
        self._write("seen", f"{context.execution_id} {context.context_id} {key} {value}")

    def told(self, context: CallContext, token: str) -> None:
        """Keep by which token somebody is to reply."""
        self._write("tokens", f"{context.execution_id} {token}")

    def lines(self, name: str) -> list[list[str]]:
        """Return the words of all lines of a file."""
        path = self._folder / name
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def _write(self, name: str, line: str) -> None:
        file = os.open(self._folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, f"{line}\n".encode())
        finally:
            os.close(file)


def functions(world: World) -> list[AnyFunction]:
    """Return the functions that nodes call."""
    return [*_plain(world), *_pausing(world), *_dialling(world)]


def _plain(world: World) -> list[AnyFunction]:
    async def steady(context: NodeContext, **given: object) -> object:
        world.called(context)
        return behave("steady", 0, given)

    async def moody(context: NodeContext, **given: object) -> object:
        world.called(context)
        return behave("moody", 0, given)

    async def flaky(context: NodeContext, **given: object) -> object:
        world.called(context)
        return behave("flaky", context.attempt - 1, given)

    async def broken(context: NodeContext, **given: object) -> object:
        world.called(context)
        return behave("broken", 0, given)

    async def slow(context: NodeContext, **given: object) -> object:
        world.called(context)
        await asyncio.sleep(_dice(context) % 8 / 10)  # so that processes die in the middle of it
        return behave("steady", 0, given)

    def threaded(context: NodeContext, **given: object) -> object:
        world.called(context)
        time.sleep(_dice(context) % 4 / 10)  # as above
        return behave("steady", 0, given)

    return [steady, moody, flaky, broken, slow, threaded]


def _pausing(world: World) -> list[AnyFunction]:
    async def records(context: NodeContext, **given: object) -> object:
        world.called(context)
        values = {}
        for key in ("first", "second"):
            values[key] = await context.once(key, world.made, context, key)
            world.seen(context, key, values[key])
        await context.checkpoint({"given": str(given)[:50]})
        return values

    async def asks(context: NodeContext, **given: object) -> object:
        world.called(context)
        value = await context.once("first", world.made, context, "first")
        world.seen(context, "first", value)
        answer = await context.ask("size", SIZE, deadline="2s" if _dice(context) % 2 else None)
        await context.sleep("20ms")
        return [answer, value, behave("steady", 0, given)]

    def asks_in_thread(context: SyncNodeContext, **given: object) -> object:
        world.called(context)
        context.sleep("10ms")
        value = context.once("first", world.made, context, "first")
        world.seen(context, "first", value)
        context.checkpoint(1)
        return [context.ask("size", SIZE), value, behave("steady", 0, given)]

    async def naps(context: NodeContext, **given: object) -> object:
        world.called(context)
        await context.sleep("30ms")
        await context.sleep("30ms")
        return behave("steady", 0, given)

    async def counts(context: NodeContext, **given: object) -> object:
        world.called(context)
        for number in range(context.restored or 0, 4):
            context.heartbeat()
            await context.checkpoint(number + 1)
        return behave("flaky", context.attempt - 1, given)

    return [records, asks, asks_in_thread, naps, counts]


def _dialling(world: World) -> list[AnyFunction]:
    async def dials(context: NodeContext, token: str, **_given: object) -> None:
        world.called(context)
        world.told(context, token)

    async def dials_badly(context: NodeContext, token: str, **_given: object) -> None:
        world.called(context)
        if _dice(context) % 3 == 0:
            raise ConnectionError("nobody answers")
        world.told(context, token)
        await asyncio.sleep(0.05)  # the reply may come before it has ended

    return [dials, dials_badly]


def probes(names: list[str]) -> dict[str, AnyFunction]:
    """Return what tells of lost calls whether they happened: by chance, since the world does not care."""

    async def probe(context: NodeContext, **_given: object) -> object:
        return (Happened("probed"), NOT_HAPPENED, NOT_HAPPENED, UNKNOWN)[_dice(context) % 4]

    return dict.fromkeys(names, probe)


def undos(names: list[str]) -> dict[str, AnyFunction]:
    """Return what undoes lost calls; now and then that fails."""

    async def undo(context: NodeContext, **_given: object) -> None:
        if _dice(context) % 4 == 0:
            raise ConnectionError("it cannot be undone now")

    return dict.fromkeys(names, undo)


def _dice(context: CallContext) -> int:
    """Return a number that differs from call to call, and is the same for the same one."""
    return zlib.crc32(f"{context.execution_id} {context.context_id} {context.attempt}".encode()) >> 3
