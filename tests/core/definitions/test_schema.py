"""The JSON Schema of the format: an editor that follows it accepts what we accept and refuses what we refuse."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from jsonschema import Draft202012Validator

from layover.core.definitions import check, document, format_schema

from .strategies import examples
from .surface import pairs

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.yaml"))
SCHEMA = Draft202012Validator(format_schema())


def faults(source: object) -> list[str]:
    """Return the complaints of the schema about a document."""
    return [f"{error.json_path}: {error.message}" for error in SCHEMA.iter_errors(source)]


def test_the_schema_is_one_itself() -> None:
    Draft202012Validator.check_schema(format_schema())


def test_the_schema_that_is_shipped_is_the_one_of_this_version() -> None:
    """Regenerate it with `layover schema > src/layover/definition.schema.json`."""
    assert json.loads(files("layover").joinpath("definition.schema.json").read_text("utf-8")) == format_schema()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.name))
def test_an_example_fits_the_schema(path: Path) -> None:
    text = path.read_text("utf-8")
    written = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader that takes words for text
    assert faults(written) == []
    assert faults(document(check(text).definition)) == []
    assert faults(document(check(text).definition, defaults=True)) == []


class _Loader(yaml.CSafeLoader):
    """Reads keys such as `true` as text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        del deep
        return {key.value: self.construct_object(child, deep=True) for key, child in node.value}


@examples(30)
@given(pairs())
def test_every_way_of_writing_a_definition_fits_the_schema(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    plain, other = pair
    assert faults(plain) == []
    assert faults(other) == []
    assert faults(document(check(plain).definition, defaults=True)) == []


NODE: dict[str, Any] = {"id": "a", "type": "compute", "output": 1}


def one(**fields: object) -> dict[str, Any]:
    return {"name": "w", "nodes": [{"id": "a", **fields}]}


WRONG: dict[str, object] = {
    "no definition": [],
    "nothing": {},
    "no name": {"nodes": [NODE]},
    "no nodes": {"name": "w"},
    "an empty list of nodes": {"name": "w", "nodes": []},
    "nodes that are a mapping": {"name": "w", "nodes": {"a": NODE}},
    "a name with a blank": {"name": "a b", "nodes": [NODE]},
    "a name that is too long": {"name": "a" * 256, "nodes": [NODE]},
    "a name that is a number": {"name": 1, "nodes": [NODE]},
    "a description that is a list": {"name": "w", "description": [], "nodes": [NODE]},
    "tags that are text": {"name": "w", "tags": "a", "nodes": [NODE]},
    "a tag that is a number": {"name": "w", "tags": [1], "nodes": [NODE]},
    "variables that are a list": {"name": "w", "variables": [], "nodes": [NODE]},
    "an input that is text": {"name": "w", "input": "object", "nodes": [NODE]},
    "an unknown field": {"name": "w", "node": [], "nodes": [NODE]},
    "an unknown setting": {"name": "w", "settings": {"timeuot": "1s"}, "nodes": [NODE]},
    "a setting that is not among the choices": {"name": "w", "settings": {"durability": "none"}, "nodes": [NODE]},
    "a bare number for a duration": {"name": "w", "settings": {"timeout": 30}, "nodes": [NODE]},
    "a duration without its unit": {"name": "w", "settings": {"timeout": "30"}, "nodes": [NODE]},
    "a duration in months": {"name": "w", "settings": {"retention": "P1M"}, "nodes": [NODE]},
    "a maximal pause that is another word": {"name": "w", "settings": {"max_pause": "never"}, "nodes": [NODE]},
    "recoveries below zero": {"name": "w", "settings": {"max_recoveries": -1}, "nodes": [NODE]},
    "a concurrency without its limit": {"name": "w", "settings": {"concurrency": {"key": "a"}}, "nodes": [NODE]},
    "a rate without its time": {"name": "w", "settings": {"rate": {"limit": 1}}, "nodes": [NODE]},
    "a rate of none": {"name": "w", "settings": {"rate": {"limit": 0, "per": "1s"}}, "nodes": [NODE]},
    "a start that is a number": {"name": "w", "start": 1, "nodes": [NODE]},
    "a start without a node": {"name": "w", "start": [], "nodes": [NODE]},
    "edges that are a mapping": {"name": "w", "edges": {"a": "b"}, "nodes": [NODE]},
    "an edge without a target": {"name": "w", "edges": [{"source": "a"}], "nodes": [NODE]},
    "an edge with an unknown field": {"name": "w", "nodes": [NODE], "edges": [{"source": "a", "target": "a", "to": 1}]},
    "a node that is text": {"name": "w", "nodes": ["a"]},
    "a node without an id": {"name": "w", "nodes": [{"type": "end"}]},
    "a node without a type": {"name": "w", "nodes": [{"id": "a"}]},
    "an id with a dot": {"name": "w", "nodes": [{**NODE, "id": "a.b"}]},
    "an id that begins with a digit": {"name": "w", "nodes": [{**NODE, "id": "1a"}]},
    "an id that is too long": {"name": "w", "nodes": [{**NODE, "id": "a" * 256}]},
    "a type that is a number": one(type=1),
    "a type with a blank": one(type="a b"),
    "a label that is too long": one(type="end", label="a" * 256),
    "a label that is null": one(type="end", label=None),
    "a join that is not among the choices": one(type="end", join="some"),
    "a position without y": one(type="end", position={"x": 1}),
    "a position of text": one(type="end", position={"x": "1", "y": "2"}),
    "a next that is a number": one(type="compute", output=1, next=1),
    "a next that leads to a mapping": one(type="compute", output=1, next={"done": {}}),
    "a next of numbers": one(type="compute", output=1, next=[1]),
    "a condition without if": one(type="condition"),
    "an if that is a list": one(type="condition", **{"if": []}),
    "a switch without cases": one(type="switch", value="1", cases=[]),
    "a case without a port": one(type="switch", cases=[{"if": "true"}]),
    "values that are a list": one(type="set", values=[]),
    "a field of another type": one(type="compute", output=1, duration="1s"),
    "a strategy that is not among the choices": one(type="merge", strategy="middle"),
    "an empty outcome": one(type="end", outcome=""),
    "a loop without a body": one(type="loop", times=3),
    "an empty body": one(type="loop", times=3, body=[]),
    "a body that is text": one(type="loop", times=3, body="a"),
    "a body with an unknown field": one(type="loop", times=3, body={"nodes": [NODE], "node": []}),
    "a loop that runs too often": one(type="loop", times=1_000_001, body=[NODE]),
    "a loop that runs half a time": one(type="loop", times=0.5, body=[NODE]),
    "an item with a dash in its name": one(type="loop", for_each="[1]", body=[NODE], **{"as": "a-b"}),
    "a problem deep within": one(type="loop", times=1, body=[{"id": "b", "type": "loop", "times": 1, "body": [1]}]),
    "a branch without an id": one(type="parallel", branches=[{"body": [NODE]}]),
    "a concurrency of none": one(type="parallel", for_each="[1]", body=[NODE], concurrency=0),
    "approvers that are a list": one(type="approval", approvers=["ann"]),
    "a need of none": one(type="approval", need=0),
    "a need of one and a half": one(type="approval", need=1.5),
    "an outcome that approvals do not have": one(type="approval", deadline="1d", on_deadline="continue"),
    "an escalation without people": one(type="approval", escalate={"after": "1d"}),
    "a reminder that is a number": one(type="form", remind=[4]),
    "a schema that is a list": one(type="form", schema=[]),
    "a signal without an alias": one(type="wait_signal", signals=[{"signal": "a"}]),
    "a need that is another word": one(type="wait_signal", signal="a", need="most"),
    "a callback that calls nothing": one(type="callback", call=""),
    "a version of zero": one(type="workflow", workflow="a", version=0),
    "a workflow without its name": one(type="workflow"),
    "a method in small letters": one(type="http", url="http://a", method="get"),
    "headers that are a list": one(type="http", url="http://a", headers=[]),
    "an unknown field of a function": one(type="work", inputs={}),
    "a retry that is a number": one(type="work", retry=3),
    "a retry that is another word": one(type="work", retry="always"),
    "a retry with an unknown field": one(type="work", retry={"tries": 3}),
    "attempts below one": one(type="work", retry={"max_attempts": 0}),
    "a jitter over one": one(type="work", retry={"jitter": 1.5}),
    "a timeout that is null in the retry": one(type="work", retry={"delay": None}),
    "a crash that is not among the choices": one(type="work", on_crash="ignore"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_document_is_refused_by_the_schema_and_by_the_check(what: str) -> None:
    source = WRONG[what]
    assert faults(source), "the schema accepts it"
    assert not check(json.dumps(source)).ok, "the check accepts it"
