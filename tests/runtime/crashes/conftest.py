from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers.postgres import databases

from .fork_server import fork_server
from .world import POSTGRES, SQLITE, World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=[SQLITE, POSTGRES])
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "machine"))
    kind = request.param
    world = World(tmp_path, f"sqlite:///{tmp_path / 'crash.db'}" if kind == SQLITE else databases.address(), kind)
    yield world
    world.clean_up()
    databases.give_back()


@pytest.fixture(scope="session", autouse=True)
def fork_server_closed() -> Iterator[None]:
    """Leave nobody behind who begins processes."""
    yield
    fork_server.close()
