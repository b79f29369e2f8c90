"""The wanted type of a question becomes a schema for a form."""

from __future__ import annotations

import datetime as dt
from datetime import timedelta
from typing import Literal

import msgspec
import pytest

from layover.core.schemas import misfits
from layover.errors import BadUse
from layover.nodes.ask import answer_as, milliseconds, schema_for


class Leaf(msgspec.Struct):
    colour: Literal["red", "green"]


class Branch(msgspec.Struct):
    leaf: Leaf
    branches: list[Branch] = []


class Twig(msgspec.Struct):
    left: Leaf
    right: Leaf


def test_a_schema_stays_as_it_is() -> None:
    schema = {"type": "object", "$ref": "#/$defs/x", "$defs": {"x": {}}}
    assert schema_for(schema) is schema


def test_the_top_of_a_schema_is_not_a_reference() -> None:
    assert schema_for(Leaf) == {
        "title": "Leaf",
        "type": "object",
        "properties": {"colour": {"enum": ["green", "red"]}},
        "required": ["colour"],
    }


@pytest.mark.parametrize(
    ("wanted", "fits", "does_not"),
    [
        (Leaf, {"colour": "red"}, {"colour": "blue"}),
        (Twig, {"left": {"colour": "red"}, "right": {"colour": "red"}}, {"left": {"colour": "red"}, "right": {}}),
        (
            Branch,
            {"leaf": {"colour": "red"}, "branches": [{"leaf": {"colour": "red"}}]},
            {"leaf": {"colour": "red"}, "branches": [{}]},
        ),
        (list[Leaf], [{"colour": "red"}], [{}]),
        (int | None, None, "x"),
    ],
    ids=["flat", "shared part", "recursive", "list", "optional"],
)
def test_a_schema_accepts_exactly_the_values_of_its_type(wanted: object, fits: object, does_not: object) -> None:
    schema = schema_for(wanted)
    assert misfits(schema, fits) == ()
    assert misfits(schema, does_not) != ()
    assert msgspec.to_builtins(answer_as(wanted, "k", fits)) == msgspec.to_builtins(msgspec.convert(fits, wanted))


@pytest.mark.parametrize("wanted", [object(), object, "Leaf", 7])
def test_a_value_that_is_neither_type_nor_schema_is_refused(wanted: object) -> None:
    with pytest.raises(BadUse, match="JSON Schema"):
        schema_for(wanted)


def test_an_answer_that_fits_the_schema_fits_the_type() -> None:
    assert misfits(schema_for(int), 1.0) == ()  # an integer in JSON Schema, but not in Python
    assert answer_as(int, "size", 1.0) == 1
    assert answer_as(int | str, "size", "1") == "1"


def test_an_answer_that_the_type_does_not_take_says_so() -> None:
    with pytest.raises(BadUse, match="`when`") as refused:
        answer_as(dt.date, "when", "tomorrow")  # the schema does not check formats
    assert refused.value.code == "bad_answer"


def test_a_length_of_time_is_a_text_or_a_timedelta() -> None:
    assert (milliseconds("1h30m"), milliseconds(timedelta(seconds=5)), milliseconds("0s")) == (5_400_000, 5_000, 0)
    for wrong in ("soon", 5_000, True, 1.5, timedelta(-1), timedelta(days=10**6)):
        with pytest.raises(BadUse, match="is not a duration"):
            milliseconds(wrong)  # type: ignore[arg-type]  # that is the point
