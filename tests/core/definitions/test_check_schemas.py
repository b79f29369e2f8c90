"""The JSON Schemas of a definition: in any dialect, checked offline, reported with the position of the fault."""

from __future__ import annotations

import pytest

from layover.core.definitions import Checked, check

DIALECTS = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
]


def checked(schema: object) -> Checked:
    return check(
        {"name": "w", "settings": {"max_pause": "7d"}, "nodes": [{"id": "ask", "type": "form", "schema": schema}]}
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_schema_may_be_written_in_any_dialect(dialect: str) -> None:
    assert checked({"$schema": dialect, "type": "object", "properties": {"a": {"type": "string"}}}).ok


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_fault_is_found_in_every_dialect(dialect: str) -> None:
    (problem,) = checked({"$schema": dialect, "properties": {"a": {"type": "strin"}}}).problems
    assert (problem.code, problem.path) == ("bad_schema", "$.nodes[0].schema.properties.a.type")


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "http://json-schema.org/draft-03/schema#"},
        {"$schema": 7},
        {"$schema": ""},
        {"$ref": "#/nowhere"},
        {"$ref": "other.json"},
        {"$ref": "http://127.0.0.1:9/schema"},
        {"$ref": "file:///etc/passwd"},
        {"$id": "::", "$ref": "x"},
        {"$id": "http://a b/"},
        {"pattern": "("},
        {"pattern": "(?=a)"},
        {"pattern": "(a)\\1"},
        {"patternProperties": {"[": {}}},
        {"required": "a"},
        {"properties": []},
        {"items": 3},
        {"minLength": -1},
        {"$defs": {"a": {"$ref": "#/$defs/b"}}, "$ref": "#/$defs/a"},
        {"$dynamicRef": "#nowhere"},
        {"multipleOf": 0},
    ],
)
def test_a_schema_that_could_not_be_used_is_a_problem(schema: object) -> None:
    problems = checked(schema).problems
    assert {problem.code for problem in problems} == {"bad_schema"}
    assert all(problem.path.startswith("$.nodes[0].schema") for problem in problems)


@pytest.mark.parametrize(
    "schema", [{"$ref": "#"}, {"$id": "urn:x", "$ref": "#"}, {"$recursiveRef": "#"}, True, False, {}]
)
def test_an_unusual_schema_has_no_problems(schema: object) -> None:
    assert checked(schema).ok


def test_a_huge_schema_reports_only_its_first_fault() -> None:
    faulty = {f"p{index}": {"type": "no such type"} for index in range(2_000)}
    assert [problem.code for problem in checked({"properties": faulty}).problems] == ["bad_schema"]
