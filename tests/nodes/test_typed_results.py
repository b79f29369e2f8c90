"""The result of a function fits its annotation, and is JSON throughout."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn, TypedDict

import msgspec
import pytest

from layover.core.payloads import AssetRef, PayloadNotJson, plain
from layover.nodes.registry import Registry
from layover.nodes.results import BadOutput, result_of


class Shape(msgspec.Struct):
    sides: int


class Square(Shape):
    length: float = 1.0


@dataclass
class Drawing:
    shapes: list[object] = field(default_factory=list)


class Size(TypedDict):
    width: int


class Level(IntEnum):
    HIGH = 2


def checked(kind: Any, value: object) -> Any:
    result = result_of(kind)
    return value if result is None else result.checked(value)


FITTING: list[tuple[Any, object]] = [
    (str, "a"),
    (float, 1),
    (int, 2.0),
    (int, True),
    (int, Level.HIGH),
    (list[int], [True, 2]),
    (list[int], (1, 2)),
    (None, None),
    (date, date(2026, 1, 2)),
    (Shape, Shape(3)),
    (Shape, Square(4)),
    (list[Shape], [Square(4)]),
    (Drawing, Drawing([1, "a", Shape(3)])),
    (Size, {"width": 1}),
    (dict[str, object], {"a": [Shape(3), date(2026, 1, 2)]}),
    (Sequence[str], ["a"]),
    (str | None, None),
    (dict[str, object], {"file": AssetRef("s3://a", "text/plain", 1, "0")}),
]


@pytest.mark.parametrize(("kind", "value"), FITTING, ids=[f"{kind} {value}" for kind, value in FITTING])
def test_values_that_python_accepts_for_the_type_are_kept(kind: Any, value: object) -> None:
    kept = checked(kind, value)
    assert kept is value
    plain(kept)


WRONG: list[tuple[Any, object, str]] = [
    (str, 1, "result: expected str, got int"),
    (None, 1, "result: expected null, got int"),
    (list[int], [1, "2"], "result[1]: expected int, got str"),
    (Size, {}, "result.width: it is missing"),
    (Shape, {"sides": "three"}, "result.sides: expected int, got str"),
    (dict[str, object], {"a": [1, object()]}, "result.a[1]: object is not a JSON type"),
    (Drawing, Drawing([Shape(3), Path("x")]), "result.shapes[1]: PosixPath is not a JSON type"),
    (list[Shape], [Shape(object())], "result[0].sides: object is not a JSON type"),  # type: ignore[arg-type]
    (dict[str, object], {"a": {(1, 2): 3}}, "result.a: dict is not a JSON type"),
    (Path, Path("x"), "result: PosixPath is not a JSON type"),
    (list[str], ["a", "\udc80"], "result[1]: str is not a JSON type"),
]


@pytest.mark.parametrize(("kind", "value", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_a_misfit_is_reported_with_its_place(kind: Any, value: object, message: str) -> None:
    with pytest.raises(BadOutput) as caught:
        plain(checked(kind, value))
    assert (caught.value.message, caught.value.code, caught.value.retryable) == (message, "bad_output", False)


@pytest.mark.parametrize("kind", [Any, object, NoReturn])
def test_an_annotation_that_promises_nothing_costs_nothing(kind: Any) -> None:
    assert result_of(kind) is None


def test_a_cyclic_result_is_refused() -> None:
    endless: dict[str, object] = {}
    endless["a"] = endless
    with pytest.raises((BadOutput, PayloadNotJson)):
        plain(checked(dict[str, object], endless))


def test_results_of_sync_and_async_functions_are_checked_alike() -> None:
    def now() -> str:
        return 1  # type: ignore[return-value]

    async def later() -> str:
        return 1  # type: ignore[return-value]

    registry = Registry()
    with pytest.raises(BadOutput):
        registry.find(registry.add(now)).call({}, None)
    awaited: Any = registry.find(registry.add(later)).call({}, None)
    with pytest.raises(BadOutput):
        asyncio.run(awaited)


def test_the_result_of_a_probe_is_not_checked_against_its_annotation() -> None:
    def work() -> None: ...

    def probe() -> str:
        return 1  # type: ignore[return-value]

    registry = Registry()
    registry.add(work, probe=probe)
    assert registry.find_probe("work").call({}, None) == 1
