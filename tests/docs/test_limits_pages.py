"""The pages about limits and purging say what is true: programs print what they show, and so do commands."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import apsw
import pytest

from layover import Engine
from layover.core.definitions import check
from tests.cli.test_verify import layover
from tests.docs.pages import blocks, page

LIMITS, PURGE = page("how-to/limits.md"), page("how-to/purge.md")
DAY = 86_400_000


def test_the_programs_run_and_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(LIMITS, "python"):
        exec(compile(block, "limits.md", "exec"), names)  # noqa: S102 - our own page
    assert capsys.readouterr().out == "".join(blocks(LIMITS, ""))


@pytest.mark.parametrize("block", blocks(LIMITS, "yaml") + blocks(PURGE, "yaml"))
def test_the_definitions_are_sound(block: str) -> None:
    assert [p for p in check(block, syntax="yaml").problems if p.severity == "error"] == []


def test_the_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    asyncio.run(_build(tmp_path / "app.db"))
    (console,) = blocks(PURGE, "console")
    for part in console.removeprefix("$ ").split("\n$ "):
        command, _, shown = part.partition("\n")
        program, *words = shlex.split(command)
        assert program == "layover"
        assert layover(*words, cwd=tmp_path) == (0, shown.rstrip("\n") + "\n", "")


async def _build(path: Path) -> None:
    """Make the database of the page: two executions that ended two days ago, and one that just has."""
    (heartbeat,) = blocks(PURGE, "yaml")
    async with Engine(f"sqlite:///{path}") as engine:
        await engine.register(heartbeat)
        await engine.register("name: order\nnodes: [{id: done, type: end}]")
        for _ in range(2):
            await engine.start("heartbeat", until="end")
    db = apsw.Connection(str(path))
    db.execute("UPDATE executions SET finished_at = finished_at - ?", (2 * DAY,))
    db.close()
    async with Engine(f"sqlite:///{path}") as engine:
        await engine.start("order", until="end")
