"""The page about moving a database says what the command does."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

from layover import Engine
from tests.cli.test_verify import layover
from tests.docs.pages import blocks, page

if TYPE_CHECKING:
    from tests.servers.postgres import Databases

MOVE = page("how-to/move-to-postgresql.md")
ADDRESS = "postgresql://layover@db.example/app"


def test_the_commands_print_what_the_page_shows(tmp_path: Path, postgres: Databases) -> None:
    asyncio.run(_build(tmp_path / "app.db"))
    target = postgres.address()
    (console,) = blocks(MOVE, "console")
    for part in console.removeprefix("$ ").split("\n$ "):
        command, _, shown = part.partition("\n")
        program, *words = shlex.split(command.replace(ADDRESS, target))
        assert program == "layover"
        assert layover(*words, cwd=tmp_path) == (0, shown.rstrip("\n") + "\n", "")
    (resumed,) = blocks(MOVE, "")
    assert layover(*shlex.split(resumed.replace(ADDRESS, target))[1:], cwd=tmp_path)[0] == 0


async def _build(path: Path) -> None:
    async with Engine(f"sqlite:///{path}") as engine:
        await engine.register("name: order\nnodes: [{id: size, type: form, schema: {type: object}}]")
        await engine.register("name: echo\nnodes: [{id: done, type: end}]")
        await engine.start("echo", until="end")
        for _ in range(2):
            await engine.start("order", until="rest")
        await engine.signal("paid", 1)
