"""Only so many nodes and legs of one execution are asked for and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.cli import local, remote, show

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
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

    async def endless() -> AsyncIterator[int]:
        nonlocal given
        while True:
            given += 1
            yield given

    assert len(await remote._first(endless())) == 1_000  # noqa: SLF001 - through a server it takes a thousand nodes
    assert given == 1_000


def test_who_looks_at_many_nodes_is_told_that_there_are_more(
    cli: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (local, show):
        monkeypatch.setattr(module, "MOST_SHOWN", 3)
    (project / "rounds.yaml").write_text(LOOP)
    shown = cli("show", cli("run", "rounds.yaml", "--json").id)
    assert "the first 3 nodes" in shown.out
