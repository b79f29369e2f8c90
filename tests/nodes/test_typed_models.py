"""Pydantic models, where it is installed: built from the input of a node, and dumped as its result."""

from __future__ import annotations

import subprocess
import sys
from types import GenericAlias
from typing import Any

import pytest

from layover.authoring.shapes import schema_of
from layover.nodes.registry import Registry
from layover.nodes.results import BadOutput
from layover.nodes.typed import BadInput


def test_layover_never_imports_pydantic() -> None:
    program = "import sys, layover; layover.node(lambda: 0); layover.Workflow; print('pydantic' in sys.modules)"
    words = [sys.executable, "-c", program]
    assert subprocess.run(words, check=True, capture_output=True, text=True).stdout == "False\n"  # noqa: S603 - ours


def _models() -> tuple[Any, Any]:
    pydantic = pytest.importorskip("pydantic")
    line = pydantic.create_model("Line", sku=(str, ...), price=(float, 1.0))
    return line, pydantic.create_model("Order", id=(str, ...), lines=(GenericAlias(list, (line,)), []))


def test_a_model_is_built_from_input_and_dumped_as_result() -> None:
    line, order = _models()

    def work(first: Any, more: Any) -> Any:
        assert isinstance(first, order)
        assert [type(one) for one in more] == [line]
        return {"order": first}

    work.__annotations__ = {
        "first": order,
        "more": GenericAlias(list, (line,)),
        "return": GenericAlias(dict, (str, order)),
    }
    registry = Registry()
    function = registry.find(registry.add(work))
    given = {"id": "a", "lines": [{"sku": "b", "price": 2}]}
    found = function.call({"first": given, "more": [{"sku": "c"}]}, None)
    assert found == {"order": {"id": "a", "lines": [{"sku": "b", "price": 2.0}]}}
    with pytest.raises(BadInput, match=r"^more\[0\]\.sku: field required$"):
        function.call({"first": given, "more": [{}]}, None)
    with pytest.raises(BadInput, match=r"^first\.lines\[0\]\.price: input should be a valid number"):
        function.call({"first": {"id": "a", "lines": [{"sku": "b", "price": "x"}]}, "more": []}, None)


def test_a_result_that_does_not_fit_its_model_is_refused() -> None:
    _, order = _models()

    def work() -> Any:
        return {"id": 1}

    work.__annotations__ = {"return": order}
    registry = Registry()
    with pytest.raises(BadOutput, match=r"^result\.id: input should be a valid string$"):
        registry.find(registry.add(work)).call({}, None)


def test_a_model_is_a_schema() -> None:
    line, _ = _models()
    schema: Any = schema_of(line)
    assert schema["required"] == ["sku"]


class ByHand:
    """A class with the methods of a model, for machines without pydantic."""

    def __init__(self, size: int) -> None:
        self.size = size

    @classmethod
    def model_validate(cls, given: Any) -> ByHand:
        if not isinstance(given, dict) or "size" not in given:
            raise ValueError("Size wanted")
        return cls(given["size"])

    @classmethod
    def model_json_schema(cls) -> dict[str, object]:
        return {"type": "object", "required": ["size"]}

    def model_dump(self, *, mode: str) -> dict[str, object]:
        assert mode == "json"
        return {"size": self.size}


def test_a_model_is_known_by_its_methods() -> None:
    def grow(models: list[ByHand]) -> dict[str, ByHand]:
        return {f"m{model.size}": ByHand(model.size + 1) for model in models}

    registry = Registry()
    function = registry.find(registry.add(grow))
    assert function.call({"models": [{"size": 1}, {"size": 2}]}, None) == {"m1": {"size": 2}, "m2": {"size": 3}}
    with pytest.raises(BadInput, match=r"^models\[1\]: size wanted$"):
        function.call({"models": [{"size": 1}, {}]}, None)
    assert schema_of(ByHand) == {"type": "object", "required": ["size"]}
