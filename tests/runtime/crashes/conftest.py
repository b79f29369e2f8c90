from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers.postgres import databases
from tests.servers.sqlite import empty_database

from .world import POSTGRES, SQLITE, World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=[SQLITE, POSTGRES])
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "machine"))
    kind = request.param
    address = f"sqlite:///{empty_database(tmp_path / 'crash.db')}" if kind == SQLITE else databases.address()
    world = World(tmp_path, address, kind)
    yield world
    world.clean_up()
    databases.give_back()
