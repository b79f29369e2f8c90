"""Hostile expressions end in a clear error or in the right value, within their budget of work and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .evaluations import BOMBS, DEEP_DATA, FOLDED, FORMATS, PATTERNS, REACHING_OUT, TYPES
from .texts import DEEP_TEXTS, LONG_TEXTS, ODD_TEXTS
from .trial import LIMITS, MEGABYTE, Trial, try_expression

if TYPE_CHECKING:
    from .case import Case

TEXTS = (*LONG_TEXTS, *DEEP_TEXTS, *ODD_TEXTS)
EVALUATIONS = (*BOMBS, *TYPES, *FOLDED, *FORMATS, *PATTERNS, *DEEP_DATA, *REACHING_OUT)

MOST_MEMORY = 16 * MEGABYTE
CALLS_PER_CHARACTER = 150  # from the text to the value; measured: 93 at most
CALLS_TO_REFUSE = 60


def _name(case: Case) -> str:
    return case.name


def _ends_as_it_should(case: Case, trial: Trial) -> None:
    assert trial.verdict in case.verdicts, trial.error
    assert trial.error is None or trial.error.message
    if case.verdicts == {"value"}:
        assert trial.value == case.value
        assert type(trial.value) is type(case.value)


@pytest.mark.parametrize("case", TEXTS, ids=_name)
def test_a_hostile_text_takes_work_in_proportion_to_its_length(case: Case) -> None:
    trial = try_expression(case.source, case.context, count_calls=True)
    _ends_as_it_should(case, trial)
    assert trial.peak < MOST_MEMORY
    assert trial.parse_steps <= 2 * len(case.source) + 2
    if len(case.source) > LIMITS.source:
        assert trial.refused
        assert trial.calls <= CALLS_TO_REFUSE
    else:
        assert trial.calls <= CALLS_PER_CHARACTER * (len(case.source) + 10)


@pytest.mark.parametrize("case", EVALUATIONS, ids=_name)
def test_a_hostile_evaluation_ends_within_its_budget(case: Case) -> None:
    trial = try_expression(case.source, case.context)
    _ends_as_it_should(case, trial)
    assert trial.peak < MOST_MEMORY
    within = trial.steps <= LIMITS.steps and trial.size <= LIMITS.size
    assert within or trial.verdict == "budget_exceeded"
