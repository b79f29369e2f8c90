"""The pytest plugin of Layover, which every pytest run on a machine that has Layover loads.

It stands outside the package so that a run that does not use it loads nothing of Layover at all.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.testing import Layover


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer what can be chosen for a run."""
    group = parser.getgroup("layover", "tests of workflows")
    group.addoption(
        "--layover-store",
        choices=("memory", "sqlite"),
        default="memory",
        help="where the fixture `layover` keeps executions: in memory (default), or in an SQLite file for each test",
    )
    group.addoption(
        "--layover-crash",
        metavar="POINT:N",
        default=None,
        help="have tests that are decorated with `survives_crashes` try this crash alone, such as append_told:2",
    )


@pytest.fixture
def layover(request: pytest.FixtureRequest) -> Layover:
    """Return an engine for this test, on time that stands still until the test skips it."""
    from layover.testing.kit import Layover  # noqa: PLC0415 - only tests that use it pay for it
    from layover.testing.surviving import crash_from  # noqa: PLC0415 - as above

    item = request.node
    if not inspect.iscoroutinefunction(item.obj):
        pytest.fail(f"The fixture `layover` is awaited: make `{item.name}` an `async def`.", pytrace=False)
    on_disk = request.config.getoption("--layover-store") == "sqlite"
    kit = Layover(request.getfixturevalue("tmp_path") if on_disk else None)
    wanted = request.config.getoption("--layover-crash")
    if wanted is not None:
        try:
            kit.only_crash = crash_from(wanted)
        except ValueError as error:
            pytest.fail(f"--layover-crash: {error}.", pytrace=False)
    item.obj = _closing(item.obj, kit)
    return kit


@pytest.hookimpl
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that uses the fixture if no other plugin runs async tests here."""
    if "layover" not in pyfuncitem.funcargs or not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    import asyncio  # noqa: PLC0415 - as above

    wanted = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


def _closing(test: Callable[..., Awaitable[None]], kit: Layover) -> Callable[..., Awaitable[None]]:
    """Return a test that ends its engine where it ran: in its own event loop."""

    @functools.wraps(test)
    async def closing(*args: Any, **fixtures: Any) -> None:
        try:
            await test(*args, **fixtures)
        except BaseException:
            await kit.close(strict=False)
            raise
        await kit.close()

    return closing
