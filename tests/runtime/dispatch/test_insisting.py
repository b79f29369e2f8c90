"""An append that is written with whatever commands come in meanwhile gets its outcome, whatever the store raises."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import pytest

from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import Outcome
from layover.runtime.dispatch.committer import Committer
from layover.runtime.metrics import Metrics
from tests.runtime.harness import Between
from tests.stores.conformance import ME, create, head, step, uid

if TYPE_CHECKING:
    from pathlib import Path

    from layover.ports.records import Append
    from layover.ports.store import Store

pytestmark = pytest.mark.usefixtures("each_database")


class Failing(Between):
    """A store that raises something once, instead of writing."""

    def __init__(self, folder: Path, error: Exception) -> None:
        super().__init__(folder)
        self.errors = [error]

    async def appends_commit_informed(self, append: Append, decide: Any) -> Outcome:
        if self.errors:
            raise self.errors.pop()
        return await self.store.appends.commit_informed(append, decide)


async def outcome_of(store: Failing) -> Outcome | StoreError:
    """Insist on an append, and return what its execution is told."""
    committer = Committer(cast("Store", store), Metrics())
    told: asyncio.Future[Outcome | StoreError] = asyncio.get_running_loop().create_future()
    committer.insist(step(), lambda _: step(), told.set_result)
    outcome = await told
    await committer.stop()
    return outcome


@pytest.mark.parametrize("error", [StoreUnavailable("It is away."), OSError("out of files"), MemoryError()])
async def test_an_append_that_is_insisted_on_is_written_after_any_error(tmp_path: Path, error: Exception) -> None:
    store = Failing(tmp_path, error)
    await store.store.open(ME)
    try:
        await create(store.store)
        assert await outcome_of(store) == Outcome(verdict="passed")
        assert (await head(store.store)).last_seq == 2
    finally:
        await store.store.close()


async def test_an_append_that_is_refused_for_its_contents_gets_the_error(tmp_path: Path) -> None:
    store = Failing(tmp_path, ValueError("a number that is too large"))
    await store.store.open(ME)
    try:
        await create(store.store)
        outcome = await outcome_of(store)
        assert isinstance(outcome, StoreError)
        assert "too large" in outcome.message
        assert (await head(store.store)).execution_id == uid(1)
    finally:
        await store.store.close()
