"""Every store, opened, on an empty database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers.postgres import databases
from tests.stores.conformance import DATABASES, ME, Clock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from layover.ports.store import Store
    from tests.stores.conformance import Database


@pytest.fixture(autouse=True)
def databases_given_back() -> Iterator[None]:
    """Let the next test have the databases of this one, also those that it made without a fixture."""
    yield
    databases.give_back()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Database:
    return DATABASES[request.param](tmp_path, clock)


@pytest.fixture
async def store(database: Database) -> AsyncIterator[Store]:
    found = database()
    await found.open(ME)
    yield found
    await found.close()
