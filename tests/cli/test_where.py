"""`layover ls --where`: what is looked for, as it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.cli.exits import Stop
from layover.cli.where import filters_of, wanted

if TYPE_CHECKING:
    from tests.cli.conftest import Run

NODES = ("--nodes", "nodes.py", "--json")


@pytest.mark.parametrize(
    ("texts", "document"),
    [
        ((), {}),
        (("total=12",), {"total": 12}),
        (("total=12.5",), {"total": 12.5}),
        (("customer.tier=gold",), {"customer": {"tier": "gold"}}),
        (("customer.tier=gold", "customer.id=7"), {"customer": {"tier": "gold", "id": 7}}),
        (("a=true", "b=null", 'c="true"', "d=", "e=NaN"), {"a": True, "b": None, "c": "true", "d": "", "e": "NaN"}),
        (("a=b=c",), {"a": "b=c"}),
        (("a = b ",), {"a": " b "}),
        (('a={"b": [1]}', "a.c=2"), {"a": {"b": [1], "c": 2}}),
        (("a.c=2", 'a={"b": [1]}'), {"a": {"b": [1], "c": 2}}),
        (('a=["x"]', 'a=["y"]'), {"a": ["x", "y"]}),
        (("a=1", "a=1"), {"a": 1}),
        (('{"a.b": {"c=": 1}}', "d=2"), {"a.b": {"c=": 1}, "d": 2}),
    ],
)
def test_paths_with_their_values_are_one_document(texts: tuple[str, ...], document: dict[str, object]) -> None:
    assert wanted(texts) == document


@pytest.mark.parametrize("text", ["", "a", "=", "=1", "a.=1", ".a=1", "a..b=1", "{", "{]", '{"a": NaN}'])
def test_an_invalid_condition_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Stop) as stopped:
        wanted([text])
    assert str(stopped.value).startswith("--where: ")
    assert stopped.value.hint == "For example: --where customer.tier=gold --where total=12"


@pytest.mark.parametrize("texts", [("a=1", "a=2"), ("a=1", "a=true"), ("a=1", "a.b=1"), ("a.b=1", "a=[1]")])
def test_contradicting_conditions_are_refused(texts: tuple[str, ...]) -> None:
    with pytest.raises(Stop, match="contradicts"):
        wanted(texts)


def test_a_list_is_narrowed_by_what_executions_began_with(cli: Run, waiting: str) -> None:
    other = cli("run", "asking.yaml", *NODES, "--input", '{"name": "B", "for": {"team": "red", "n": 2}}').id
    assert [item["id"] for item in cli("ls", "--where", "name=Ada", "--json").json["items"]] == [waiting]
    red = cli("ls", "--where", "for.team=red", "--where", "for.n=2", "--json").json
    assert [item["id"] for item in red["items"]] == [other]
    assert cli("ls", "--where", "for.team=red", "--where", "name=Ada").out == "No executions.\n"
    assert cli("ls", "--where", "for.team=red", "--workflow", "breaking").out == "No executions.\n"


def test_bad_conditions_end_with_a_sentence(cli: Run, waiting: str) -> None:
    example = "For example: --where customer.tier=gold --where total=12"
    assert cli("ls", "--where", "name").err == f"layover: --where: `name` is not a path with a value.\n{example}\n"
    for bad in ("name", f"name={'x' * 9_000}", f"{'a.' * 40}a=1", f"{'a.' * 9_000}a=1", "a=\udcff", 'a="\\u0000"'):
        code, out, err = cli("ls", "--where", bad)
        assert (code, out) == (2, "")
        assert "where" in err
    deep = f"{'a.' * 9_000}a=1"
    assert cli("ls", "--where", deep, "--where", deep).code == 2
    assert waiting in cli("ls").out


def test_what_begins_with_the_name_of_data_is_a_condition() -> None:
    texts = ("output.total>=12", "name=Ada", "vars.x=1", "nodes.a.b~c", "trigger!=1", "outputs=3", "inputs.a=2")
    assert filters_of(texts) == {
        "where": ("output.total>=12", "vars.x=1", "nodes.a.b~c", "trigger!=1"),
        "contains": {"name": "Ada", "outputs": 3, "inputs": {"a": 2}},
    }


def test_a_list_a_view_and_a_batch_take_conditions_on_all_data(cli: Run, waiting: str) -> None:
    listed = cli("ls", "--where", "input.name=Ada", "--where", "output.x!=1", "--where", "name=Ada", "--json").json
    assert [item["id"] for item in listed["items"]] == [waiting]
    assert cli("ls", "--where", "input.name>B").out == "No executions.\n"
    assert cli("ls", "--where", "input.name=>B").code == 2
    assert cli("views", "save", "ours", "--where", "input.name~d").code == 0
    assert [item["id"] for item in cli("ls", "--view", "ours", "--json").json["items"]] == [waiting]
    planned = cli("batch", "pause", "--where", "input.name~d", "--dry-run", "--json").json
    assert planned["total"] == 1
