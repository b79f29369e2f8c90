"""Every example in the reference is true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from layover.core.expressions import FUNCTIONS, ExpressionError, Template, compile_expression, parse, to_json

from .evaluation import MOMENT

REFERENCE = (Path(__file__).parents[3] / "docs" / "expressions.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", REFERENCE, re.DOTALL | re.MULTILINE)


def _examples(language: str) -> list[tuple[str, str]]:
    lines = "".join(_blocks(language)).splitlines()
    return [(left.rstrip(), right.strip()) for left, right in (line.split("→") for line in lines)]


CONTEXT = json.loads(_blocks("json")[0])


@pytest.mark.parametrize(("source", "expected"), _examples("cel"))
def test_an_expression_gives_the_documented_result(source: str, expected: str) -> None:
    if expected.startswith("error "):
        with pytest.raises(ExpressionError) as caught:
            compile_expression(parse(source)).evaluate(CONTEXT, MOMENT)
        assert caught.value.code == expected.removeprefix("error ")
        return
    found = to_json(compile_expression(parse(source)).evaluate(CONTEXT, MOMENT))
    assert json.dumps(found) == json.dumps(json.loads(expected))


@pytest.mark.parametrize(("text", "expected"), _examples("template"))
def test_a_template_gives_the_documented_result(text: str, expected: str) -> None:
    assert Template.parse(text).render(CONTEXT, MOMENT) == json.loads(expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_an_example(name: str) -> None:
    assert any(re.search(rf"\b{name}\(", source) for source, _ in _examples("cel"))
