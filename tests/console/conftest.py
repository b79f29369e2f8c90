"""One server and one browser for all tests of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest_asyncio

from tests.api.harness import served
from tests.bounded import bound_tests
from tests.console.definitions import BROKEN, ONBOARDING, ORDERS, REFUND, UNDOABLE
from tests.console.seen import HOSTILE
from tests.servers.chromium import chromium

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest
    from playwright.async_api import Browser

    from tests.api.harness import Api


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    bound_tests(items, Path(__file__).parent)


class Served(NamedTuple):
    """The server of all tests of a file, and what is in it."""

    api: Api
    onboarding: str
    failed: str
    orders: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with served(tmp_path_factory.mktemp("console")) as api:
        for definition in (ONBOARDING, REFUND, BROKEN, ORDERS, UNDOABLE):
            await api.engine.workflows.register(definition)
        given = {"name": "Mia", "systems": ["mail", "ledger"]}
        onboarding = await api.post(
            "/executions", {"workflow": "onboarding", "input": given, "correlation_id": "Mia", "wait": "10s"}
        )
        for order, amount in (("A-2", 180), ("A-3", 270), (HOSTILE, 1)):
            body = {"workflow": "refund", "input": {"order": order, "amount": amount}, "correlation_id": order[:255]}
            await api.post("/executions", {**body, "wait": "10s"})
        failed = await api.post("/executions", {"workflow": "broken", "input": {"amount": 1}, "wait": "10s"})
        given = {"orders": [f"order {n}" for n in range(250)]}
        orders = await api.post("/executions", {"workflow": "orders", "input": given, "wait": "10s"})
        yield Served(api, onboarding.json["id"], failed.json["id"], orders.json["id"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened
