"""Every rule is needed: without it, a promise breaks, and we know which."""

from __future__ import annotations

from pathlib import Path

import pytest

from .caches import StateCache
from .execution import OneExecution
from .rules import Rule
from .scenarios import CASES, Case
from .search import explore

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "protocol.md").read_text()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_without_the_rule_a_promise_breaks(case: Case) -> None:
    found = explore(case.model(case.rule)).violation
    assert found is not None, f"nothing breaks without {case.rule.value}"
    assert found.invariant is case.breaks, str(found)


# The other models have one scenario each, which test_protocol.py explores.
SMALL = [case for case in CASES if isinstance(case.model(None), OneExecution)]


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_with_the_rule_the_same_search_finds_nothing(case: Case) -> None:
    assert explore(case.model(None)).violation is None


def test_every_rule_is_shown_to_be_needed() -> None:
    assert {case.rule for case in CASES} == set(Rule)


def test_the_cache_needs_the_epoch_only_because_a_database_may_forget() -> None:
    assert explore(StateCache(Rule.CACHE_KEY_HAS_THE_EPOCH, forgets=0)).violation is None
    assert explore(StateCache(Rule.CACHE_ONLY_ACKNOWLEDGED, forgets=0)).violation is not None


@pytest.mark.parametrize("rule", Rule, ids=lambda rule: str(rule.name))
def test_the_page_names_every_switch(rule: Rule) -> None:
    assert f"`{rule.name}`" in PAGE
