"""The page about triggers says what is true: its definition is sound, and its test passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.core.definitions import check
from tests.docs.pages import blocks, page

if TYPE_CHECKING:
    from layover.testing import Layover

PAGE = page("how-to/triggers.md")


def test_its_definition_is_sound() -> None:
    (definition,) = blocks(PAGE, "yaml")
    assert [one for one in check(definition).problems if one.severity == "error"] == []


async def test_its_tests_pass(layover: Layover) -> None:
    (program,) = blocks(PAGE, "python")
    names: dict[str, Any] = {}
    exec(compile(program, "triggers.md", "exec", dont_inherit=True), names)  # noqa: S102 - our own page
    await names["test_the_import_runs_every_night"](layover)
    await names["test_a_payment_starts_the_shop"](layover)
