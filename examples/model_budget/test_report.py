"""The report is tested with a model that counts what it is asked, and with a crash at every moment."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from model_server import model_server
from report import A_SECTION, report

from layover.testing import survives_crashes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.testing import Layover

TOPICS = ["trains", "harbours", "bridges"]


@pytest.fixture
def model() -> Iterator[tuple[str, list[str]]]:
    with model_server() as found:
        yield found


async def test_a_person_is_asked_before_more_is_spent(layover: Layover, model: tuple[str, list[str]]) -> None:
    address, prompts = model
    await layover.register(report(address))
    execution = await layover.start("report", {"topics": TOPICS, "budget": A_SECTION}, until="people")
    (point,) = await execution.points().all()
    assert (point.title, len(prompts)) == (
        f"Spend more? {A_SECTION} of {A_SECTION} tokens are used for 1 of 3 sections",
        1,
    )
    await point.answer(2 * A_SECTION)
    result = await execution.result()
    assert (len(result["sections"]), result["tokens"], len(prompts)) == (3, 3 * A_SECTION, 3)


async def test_a_report_ends_where_the_budget_does(layover: Layover, model: tuple[str, list[str]]) -> None:
    address, prompts = model
    await layover.register(report(address))
    execution = await layover.start("report", {"topics": TOPICS, "budget": A_SECTION}, until="people")
    (point,) = await execution.points().all()
    await point.answer(0)
    assert (await execution.result())["tokens"] == A_SECTION
    assert len(prompts) == 1


@survives_crashes(most=30)
async def test_a_crash_at_any_moment_repeats_one_section_at_most(
    layover: Layover, model: tuple[str, list[str]]
) -> None:
    address, prompts = model
    prompts.clear()
    await layover.register(report(address))
    execution = await layover.start("report", {"topics": TOPICS, "budget": A_SECTION}, until="people")
    (point,) = await execution.points().all()
    await point.answer(2 * A_SECTION)
    result = await execution.result()
    assert (len(result["sections"]), result["tokens"]) == (3, 3 * A_SECTION)
    assert sum(Counter(prompts).values()) <= len(TOPICS) + layover.crashes
