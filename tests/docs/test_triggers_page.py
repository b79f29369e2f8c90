"""The page about triggers says what is true: its definition is sound, and its test passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import Workflow
from layover.core.definitions import check
from tests.docs.pages import blocks, page

if TYPE_CHECKING:
    from layover.testing import Layover

PAGE = page("how-to/triggers.md")


def test_its_definition_is_sound() -> None:
    (definition,) = blocks(PAGE, "yaml")
    assert [one for one in check(definition).problems if one.severity == "error"] == []


@pytest.fixture
def names() -> dict[str, Any]:
    """What the programs of the page define, one after the other."""
    found: dict[str, Any] = {}
    for program in blocks(PAGE, "python"):
        exec(compile(program, "triggers.md", "exec", dont_inherit=True), found)  # noqa: S102 - our own page
    return found


async def test_its_test_of_a_schedule_passes(layover: Layover, names: dict[str, Any]) -> None:
    await names["test_the_import_runs_every_night"](layover)


async def test_its_test_of_a_webhook_passes(layover: Layover, names: dict[str, Any]) -> None:
    await names["test_a_payment_starts_the_shop"](layover)


async def test_its_test_of_a_source_passes(layover: Layover, names: dict[str, Any]) -> None:
    await names["test_each_mail_starts_one_import"](layover)


async def test_its_source_is_polled(
    layover: Layover, names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    flow = Workflow("shop")
    flow.compute("total", "${input.total}")
    flow.on_poll("orders", names["orders"], with_={"at_once": 2})
    await layover.register(flow)
    await layover.settle()
    assert len(await layover.executions(workflow="shop").all()) == 3
    assert capsys.readouterr().out.splitlines() == ["up to 102 all is stored", "up to 103 all is stored"]
