"""Python data that is not JSON, or larger than it looks: it gives its problem; accepted data can be written."""

from __future__ import annotations

import enum
import json
from collections import OrderedDict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from layover.core.definitions import DefinitionLimits, check, content_hash, document

if TYPE_CHECKING:
    from collections.abc import Mapping


class Word(str):
    __slots__ = ()


class Kind(enum.StrEnum):
    MANY = "many"


class Level(enum.IntEnum):
    HIGH = 3


def workflow(output: object) -> dict[str, Any]:
    return {"name": "w", "nodes": [{"id": "a", "type": "compute", "output": output}]}


def holding_itself() -> dict[str, Any]:
    found = workflow(1)
    found["x-self"] = found
    return found


def list_holding_itself() -> list[object]:
    found: list[object] = []
    found.append(found)
    return found


def shared(levels: int) -> object:
    found: object = 0
    for _ in range(levels):
        found = [found, found]
    return found


def nested(levels: int) -> object:
    found: object = 0
    for _ in range(levels):
        found = {"in": found}
    return found


@pytest.mark.parametrize(
    ("source", "code", "path"),
    [
        pytest.param(workflow(float("nan")), "bad_number", "$.nodes[0].output", id="no number"),
        pytest.param(workflow([1, float("-inf")]), "bad_number", "$.nodes[0].output[1]", id="infinity"),
        pytest.param(workflow(2**63), "number_too_large", "$.nodes[0].output", id="a number of 65 bits"),
        pytest.param(workflow(10**5_000), "number_too_large", "$.nodes[0].output", id="a number of 5,000 digits"),
        pytest.param(workflow({"a": {1, 2}}), "bad_type", "$.nodes[0].output.a", id="a set"),
        pytest.param(workflow(b"bytes"), "bad_type", "$.nodes[0].output", id="bytes"),
        pytest.param(workflow(object()), "bad_type", "$.nodes[0].output", id="an object"),
        pytest.param(workflow({1: "a"}), "bad_type", "$.nodes[0].output", id="a key that is a number"),
        pytest.param(workflow({None: "a"}), "bad_type", "$.nodes[0].output", id="a key that is nothing"),
        pytest.param({1: 2}, "bad_type", "$", id="a definition whose keys are numbers"),
        pytest.param(workflow("\ud800"), "bad_text", "$.nodes[0].output", id="half a character"),
        pytest.param(workflow({"\udfff": 1}), "bad_text", "$.nodes[0].output", id="half a character in a key"),
        pytest.param(holding_itself(), "too_deep", None, id="a mapping that holds itself"),
        pytest.param(workflow(list_holding_itself()), "too_deep", None, id="a list that holds itself"),
        pytest.param(workflow(nested(1_000)), "too_deep", None, id="data that is 1,000 deep"),
        pytest.param(workflow(shared(60)), "too_large", None, id="a list of 2^60 values that share their parts"),
        pytest.param({}, "missing_field", "$", id="nothing"),
    ],
)
def test_data_that_cannot_be_a_definition_gives_its_problem(
    source: Mapping[str, object], code: str, path: str | None
) -> None:
    checked = check(source)
    assert [problem.code for problem in checked.problems][:1] == [code]
    assert path is None or checked.problems[0].path == path
    assert checked.problems[0].line is None


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Word("text"), "text"),
        (Kind.MANY, "many"),
        (Level.HIGH, 3),
        (OrderedDict(a=(1, 2)), {"a": [1, 2]}),
        ({Word("key"): True}, {"key": True}),
        (-(2**63), -(2**63)),
    ],
)
def test_subclasses_become_plain_json_values(value: object, plain: object) -> None:
    found = check(MappingProxyType(workflow(value))).definition
    assert json.loads(json.dumps(document(found)))["nodes"][0]["output"] == plain
    assert content_hash(found) == content_hash(check(workflow(plain)).definition)


@pytest.mark.parametrize("depth", [3, 4, 10])
def test_data_may_be_exactly_as_deep_as_text(depth: int) -> None:
    limits = DefinitionLimits(depth=depth)
    fits, too_deep = workflow(nested(depth - 3)), workflow(nested(depth - 2))
    for form in (dict, json.dumps):
        assert check(form(fits), limits=limits).ok
        assert [problem.code for problem in check(form(too_deep), limits=limits).problems] == ["too_deep"]


@pytest.mark.parametrize("more", [0, 1])
def test_data_may_have_exactly_as_many_values_as_text(more: int) -> None:
    limits = DefinitionLimits(values=20)
    source = workflow([0] * (13 + more))
    for form in (dict, json.dumps):
        assert check(form(source), limits=limits).ok == (more == 0)


def test_a_definition_with_too_many_warnings_to_read_is_still_valid() -> None:
    nodes = [{"id": f"n{n}", "type": "work", "next": f"n{n + 1}"} for n in range(300)] + [{"id": "n300", "type": "end"}]
    checked = check({"name": "w", "nodes": nodes})
    assert checked.ok
    assert [problem.severity for problem in checked.problems] == ["warning"] * 200
