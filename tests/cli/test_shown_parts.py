"""Only so many nodes and legs of one execution are asked for and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover import Listing, Page
from layover.cli import show
from layover.cli.doors import page_of

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.cli.conftest import Run

LOOP = """
name: rounds
nodes:
  - id: each
    type: loop
    times: 5
    body: [{id: one, type: compute, output: 1}]
"""


async def test_no_more_pages_are_asked_for_than_are_shown() -> None:
    given = 0

    async def endless(limit: int, cursor: str | None) -> Page[int]:
        nonlocal given
        given += limit
        return Page(items=tuple(range(limit)), next="more" if cursor is None else f"{cursor} more")

    page = await page_of(Listing(endless), 950)
    assert (len(page.items), given) == (950, 950)
    assert page.next is not None


def test_only_the_first_nodes_are_shown(cli: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "MOST_SHOWN", 3)
    (project / "rounds.yaml").write_text(LOOP)
    shown = cli("show", cli("run", "rounds.yaml", "--json").id)
    assert "the first 3 nodes" in shown.out
