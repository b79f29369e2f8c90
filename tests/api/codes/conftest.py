"""Servers that all scenes share, since none disturbs another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

from tests.api.codes.stage import staged
from tests.servers.postgres import databases

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest

    from tests.api.codes.stage import Stage


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["sqlite", "postgres"])
async def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """Give servers on each database."""
    in_a_file = f"sqlite:///{tmp_path_factory.mktemp('stage') / 'layover.db'}"
    async with staged(databases.fresh() if request.param == "postgres" else in_a_file) as found:
        yield found
