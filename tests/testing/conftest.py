"""The testing kit is tested on both databases; what only the plugin does is tested in a pytest run of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.plan import load
from layover.testing import Layover

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

# A pytest run within this one forgets what it has loaded, which not every module bears: all is loaded here, before.
load("{name: any, nodes: [{id: done, type: end}]}")


@pytest.fixture(params=["memory", "sqlite"])
async def layover(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Layover]:
    kit = Layover(tmp_path if request.param == "sqlite" else None)
    yield kit
    await kit.close()
