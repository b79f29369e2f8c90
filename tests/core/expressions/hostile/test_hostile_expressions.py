"""Hostile expressions end in a clear error or in the right value, within their budget of work and memory."""

from __future__ import annotations

import pytest

from .evaluations import BOMBS, DEEP_DATA, FORMATS, PATTERNS, REACHING_OUT
from .texts import DEEP_TEXTS, LONG_TEXTS, ODD_TEXTS
from .trial import LIMITS, MEGABYTE, try_expression
from .case import Case

TEXTS = (*LONG_TEXTS, *DEEP_TEXTS, *ODD_TEXTS)
EVALUATIONS = (*BOMBS, *FORMATS, *PATTERNS, *DEEP_DATA, *REACHING_OUT)

MOST_MEMORY = 16 * MEGABYTE
CALLS_PER_CHARACTER = 40
CALLS_TO_REFUSE = 60


def _name(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", (*TEXTS, *EVALUATIONS), ids=_name)
def test_it_ends_as_it_should(case: Case) -> None:
    trial = try_expression(case.source, case.context)
    assert trial.verdict in case.verdicts, trial.error
    if trial.error is None and case.verdicts == {"value"}:
        assert trial.value == case.value
        assert type(trial.value) is type(case.value)


@pytest.mark.parametrize("case", (*TEXTS, *EVALUATIONS), ids=_name)
def test_it_stays_within_its_memory(case: Case) -> None:
    assert try_expression(case.source, case.context).peak < MOST_MEMORY


@pytest.mark.parametrize("case", TEXTS, ids=_name)
def test_parsing_is_work_in_proportion_to_the_text(case: Case) -> None:
    trial = try_expression(case.source, case.context)
    assert trial.parse_steps <= 2 * len(case.source) + 2
    if len(case.source) > LIMITS.source:
        assert trial.refused
        assert trial.calls <= CALLS_TO_REFUSE
    else:
        assert trial.calls <= CALLS_PER_CHARACTER * (len(case.source) + 10)


@pytest.mark.parametrize("case", EVALUATIONS, ids=_name)
def test_evaluation_ends_when_the_budget_is_spent(case: Case) -> None:
    trial = try_expression(case.source, case.context)
    within = trial.steps <= LIMITS.steps and trial.size <= LIMITS.size
    assert within or trial.verdict == "budget_exceeded"
