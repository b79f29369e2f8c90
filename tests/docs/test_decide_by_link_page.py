"""The page about links: its program makes one, and the settings and commands that it names exist."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import layover
from layover.cli.main import app
from layover.config.table import table
from tests.docs.pages import blocks, page

if TYPE_CHECKING:
    from pathlib import Path

PAGE = page("how-to/decide-by-link.md")
WORKFLOW = {"name": "flow", "nodes": [{"id": "review", "type": "approval", "title": "May it?"}]}


async def test_its_program_makes_a_link(tmp_path: Path) -> None:
    (program,) = blocks(PAGE, "python")
    found: dict[str, Any] = {"Engine": layover.Engine}
    exec(program, found)  # noqa: S102 - the page's own program
    async with layover.Engine(f"sqlite:///{tmp_path / 'x.db'}", workflows=[WORKFLOW]) as engine:
        execution = await engine.start("flow", until="people")
        url = await found["link_for"](engine, execution.id)
    assert re.fullmatch(r"http://localhost:8080/d/[\w-]{43}", url)


def test_its_settings_and_commands_exist() -> None:
    names = set(re.findall(r"LAYOVER_([A-Z_]+)", PAGE))
    assert names == {"LINK_KEY", "PUBLIC_URL", "LINK_IDENTITY"}
    assert {one.lower() for one in names} <= set(table())
    assert {"create", "revoke"} <= set(app["links"])
