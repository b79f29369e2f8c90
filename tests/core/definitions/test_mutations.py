"""Whatever happens to a valid definition, the result is a list of good problems or a plan, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given

from layover.core.definitions import Checked, InvalidDefinition, check, document
from layover.core.definitions.yaml_write import write_yaml
from layover.core.plan import Plan, compile_plan, load

from .dice import Dice, dice
from .mutations import damaged_data, damaged_text
from .strategies import definition, examples
from .surface import surface

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.yaml"))


def assert_told_well(source: str | bytes | Mapping[str, object], checked: Checked) -> None:
    """Assert that there is a plan, or problems with everything that a person and a machine need."""
    if checked.ok:
        assert isinstance(compile_plan(checked), Plan)
    else:
        assert any(problem.severity == "error" for problem in checked.problems)
        with pytest.raises(InvalidDefinition):
            _ = checked.definition
    lines = _lines(source)
    for problem in checked.problems:
        assert problem.code
        assert problem.code.replace("_", "a").isalnum()
        assert problem.path.startswith("$")
        assert problem.message.isprintable(), problem.message
        assert problem.message.endswith((".", "?", "!")), problem.message
        assert len(problem.message) <= 1_000
        assert len(problem.path) <= 10_000
        assert str(problem).isprintable()
        msgspec.json.encode(problem)
        if lines is None:
            assert problem.line is None
        elif problem.code != "too_many_problems":
            assert problem.line is not None
            assert 1 <= problem.line <= lines
            assert problem.column is not None
            assert problem.column >= 1


def _lines(source: str | bytes | Mapping[str, object]) -> int | None:
    if isinstance(source, str):
        source = source.encode("utf-8", "surrogatepass")
    if not isinstance(source, bytes):
        return None
    return source.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1


@pytest.mark.parametrize("name", [path.name for path in EXAMPLES])
@pytest.mark.parametrize("syntax", ["yaml", "json", "canonical yaml"])
def test_a_damaged_example_gives_good_problems_or_a_plan(name: str, syntax: str) -> None:
    text = next(path for path in EXAMPLES if path.name == name).read_text("utf-8")
    if syntax == "json":
        text = json.dumps(document(check(text).definition), indent=1)
    elif syntax == "canonical yaml":
        text = write_yaml(document(check(text).definition))

    @examples(25)
    @given(dice())
    def damage(drawn: Dice) -> None:
        source = damaged_text(drawn, text)
        assert_told_well(source, check(source))

    damage()


@examples(60)
@given(dice())
def test_a_damaged_text_gives_good_problems_or_a_plan(drawn: Dice) -> None:
    written = surface(drawn, definition(drawn))
    text = write_yaml(written) if drawn.chance() else json.dumps(written, indent=drawn.pick((None, 1)))
    source = damaged_text(drawn, text)
    checked = check(source, functions=drawn.pick((None, (), ("charge_card",))))
    assert_told_well(source, checked)


@examples(80)
@given(dice())
def test_damaged_data_gives_good_problems_or_a_plan(drawn: Dice) -> None:
    source = damaged_data(drawn, surface(drawn, definition(drawn)))
    assert_told_well(source, check(source))
    assert_told_well(text := json.dumps(source), check(text))


@examples(25)
@given(dice())
def test_load_raises_only_invalid_definition_with_all_errors(drawn: Dice) -> None:
    source = damaged_data(drawn, definition(drawn))
    checked = check(source)
    if checked.ok:
        assert load(source).definition == checked.definition
    else:
        with pytest.raises(InvalidDefinition) as caught:
            load(source)
        assert caught.value.code == "invalid_definition"
        assert caught.value.problems == tuple(p for p in checked.problems if p.severity == "error")
