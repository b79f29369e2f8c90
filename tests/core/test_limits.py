"""The names of the limits that an execution has to pass before it starts."""

from __future__ import annotations

import pytest

from layover.core.expressions import ExpressionError
from layover.core.limits import LimitNames, limit_names
from layover.core.plan import Plan, load

NODES = "nodes: [{id: a, type: delay, duration: 1s}]"


def plan(settings: str) -> Plan:
    return load(f"name: w\nsettings: {{{settings}}}\n{NODES}\n", syntax="yaml")


def test_a_workflow_without_limits_has_no_names() -> None:
    assert limit_names(plan(""), {}) == LimitNames(None, None)


def test_without_a_key_the_workflow_has_one_limit() -> None:
    assert limit_names(plan("concurrency: {limit: 1}"), {}) == LimitNames("w", None)
    assert limit_names(plan("rate: {limit: 1, per: 1s}"), {}) == LimitNames(None, "w")


def test_a_key_is_made_of_input_and_trigger() -> None:
    both = plan("concurrency: {limit: 1, key: 'c${input.id}'}, rate: {limit: 1, per: 1s, key: '${trigger.who}'}")
    assert limit_names(both, {"id": 7}, {"who": "ann"}) == LimitNames("w/c7", "w/ann")


def test_an_empty_key_gives_one_limit_for_the_workflow() -> None:
    assert limit_names(plan("rate: {limit: 1, per: 1s, key: '${input.who}'}"), {"who": None}).rate == "w"


def test_a_long_key_is_cut_and_stays_unique() -> None:
    long = plan("rate: {limit: 1, per: 1s, key: '${input}'}")
    names = [limit_names(long, text).rate for text in ("x" * 253, "x" * 254, "x" * 300, "x" * 299 + "y")]
    assert [len(name or "") for name in names] == [255] * 4
    assert names[0] == "w/" + "x" * 253
    assert len(set(names)) == 4
    assert limit_names(long, "\ud800" * 300).rate


def test_a_key_that_cannot_be_evaluated_is_an_error() -> None:
    with pytest.raises(ExpressionError) as caught:
        limit_names(plan("rate: {limit: 1, per: 1s, key: '${input.id}'}"), {})
    assert caught.value.code == "no_such_key"
