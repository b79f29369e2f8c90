from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers.postgres import databases

from .world import KINDS, SQLITE, World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=KINDS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    is_file = request.param == SQLITE
    world = World(tmp_path, f"sqlite:///{tmp_path / 'crash.db'}" if is_file else databases.address())
    yield world
    world.clean_up()
    databases.give_back()
