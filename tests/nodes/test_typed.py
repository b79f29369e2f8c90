"""The input of a node becomes the typed arguments of its function, or the function is not called."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict
from uuid import UUID

import msgspec
import pytest

from layover.nodes.context import NodeContext
from layover.nodes.function import node
from layover.nodes.registry import BadFunction, Registry
from layover.nodes.typed import BadInput

if TYPE_CHECKING:
    from fractions import Fraction

    from layover.nodes.registry import AnyFunction


class Colour(Enum):
    RED = "red"


class Line(msgspec.Struct):
    sku: str
    price: float = 1.0


@dataclass
class Order:
    id: str
    lines: list[Line] = field(default_factory=list)


class Address(TypedDict, total=False):
    city: str


def call(function: AnyFunction, given: object = None) -> Any:
    registry = Registry()
    return registry.find(registry.add(function)).call(given, None)


def refused(function: AnyFunction, given: object) -> str:
    with pytest.raises(BadInput) as caught:
        call(function, given)
    assert caught.value.code == "bad_input"
    assert caught.value.retryable is False
    return caught.value.message


def charge(order: str, amount: float, note: str | None = None) -> list[object]:
    return [order, amount, note]


def everything(**given: object) -> object:
    return given


VALUES: list[tuple[Any, object, object]] = [
    (str, "a", "a"),
    (float, 5, 5.0),
    (int, 5.0, 5),
    (bool, True, True),
    (None, None, None),
    (list[int], [1, 2.0], [1, 2]),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (dict[int, str], {"1": "a"}, {1: "a"}),
    (tuple[int, str], [1, "a"], (1, "a")),
    (set[str], ["a", "a"], {"a"}),
    (int | None, None, None),
    (int | str, "x", "x"),
    (Literal["a", "b"], "b", "b"),
    (datetime, "2026-01-02T03:04:05Z", datetime.fromisoformat("2026-01-02T03:04:05+00:00")),
    (date, "2026-01-02", date(2026, 1, 2)),
    (Decimal, "1.10", Decimal("1.10")),
    (UUID, "12345678123456781234567812345678", UUID("12345678123456781234567812345678")),
    (Colour, "red", Colour.RED),
    (Line, {"sku": "a"}, Line("a")),
    (Order, {"id": "a", "lines": [{"sku": "b", "price": 2}]}, Order("a", [Line("b", 2.0)])),
    (Address, {"city": "Rome"}, {"city": "Rome"}),
    (Annotated[int, msgspec.Meta(ge=1)], 1, 1),
    (Mapping[str, float], {"a": 1}, {"a": 1.0}),
    (Sequence[Line], [{"sku": "a"}], [Line("a")]),
    (Iterable[int], [1.0], [1]),
    (Iterable, ["a"], ["a"]),
    (dict[str, object], {"a": [1.0]}, {"a": [1.0]}),
    (Any, {"a": 1.0}, {"a": 1.0}),
]


@pytest.mark.parametrize(("kind", "given", "expected"), VALUES, ids=[str(kind) for kind, _, _ in VALUES])
def test_json_is_converted_to_the_parameter_type(kind: Any, given: object, expected: object) -> None:
    def take(value: Any) -> Any:
        return value

    take.__annotations__ = {"value": kind}
    found = call(take, {"value": given})
    assert found == expected
    assert type(found) is type(expected)


WRONG: list[tuple[Any, object, str]] = [
    (float, "5", "value: expected float, got str"),
    (int, "5", "value: expected int, got str"),
    (int, 5.5, "value: expected int, got float"),
    (int, True, "value: expected int, got bool"),
    (str, None, "value: expected str, got null"),
    (Literal["a"], "b", "value: invalid enum value 'b'"),
    (Line, {"price": 1}, "value.sku: it is missing"),
    (Order, {"id": "a", "lines": [{"sku": "b"}, {"sku": 1}]}, "value.lines[1].sku: expected str, got int"),
    (Annotated[int, msgspec.Meta(ge=1)], 0, "value: expected int >= 1"),
    (datetime, "yesterday", "value: invalid RFC3339 encoded datetime"),
]


@pytest.mark.parametrize(("kind", "given", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_a_misfit_is_reported_and_nothing_is_called(kind: Any, given: object, message: str) -> None:
    called = []

    def take(value: Any) -> None:
        called.append(value)

    take.__annotations__ = {"value": kind}
    assert refused(take, {"value": given}) == message
    assert called == []


def test_defaults_missing_and_unknown_arguments_are_as_in_python() -> None:
    assert call(charge, {"order": "a", "amount": 1}) == ["a", 1.0, None]
    assert call(charge, {"order": "a", "amount": 1, "note": "x"}) == ["a", 1.0, "x"]
    assert refused(charge, {"order": "a"}) == "amount: it is missing"
    assert refused(charge, None) == "order: it is missing"
    assert refused(charge, {"order": "a", "amont": 1}) == (
        "amont: `charge` does not take this argument. Did you mean `amount`?"
    )


def test_a_default_is_the_very_object_that_python_would_pass() -> None:
    shared: list[int] = []

    def keep(more: int, kept: list[int] = shared) -> list[int]:
        kept.append(more)
        return kept

    call(keep, {"more": 1})
    call(keep, {"more": 2})
    assert shared == [1, 2]


def test_a_function_without_types_is_called_directly_and_misfits_are_reported() -> None:
    def plain(a, b=2):  # type: ignore[no-untyped-def]
        return [a, b]

    value: dict[str, object] = {}
    assert call(plain, {"a": value}) == [{}, 2]
    assert call(plain, {"a": value})[0] is value
    assert refused(plain, {"b": 1}) == "`plain` cannot be called like this: missing a required argument: 'a'."
    assert "unexpected keyword argument 'bb'. Did you mean `b`?" in refused(plain, {"a": 1, "bb": 1})


def test_an_error_raised_inside_the_function_is_not_a_misfit() -> None:
    def plain(a):  # type: ignore[no-untyped-def]
        return a + "text"

    def typed(a: int) -> object:
        return a + "text"  # type: ignore[operator]

    for function in (plain, typed):
        with pytest.raises(TypeError, match="unsupported operand"):
            call(function, {"a": 1})


def test_some_parameters_may_have_types_and_others_none() -> None:
    def mixed(a: int, b, *, c: str = "c"):  # type: ignore[no-untyped-def]
        return [a, b, c]

    assert call(mixed, {"a": 1.0, "b": 2.0}) == [1, 2.0, "c"]
    assert call(mixed, {"a": 1, "b": None, "c": "d"}) == [1, None, "d"]
    assert refused(mixed, {"a": 1, "b": 2, "c": 3}) == "c: expected str, got int"


def test_keyword_arguments_of_a_function_with_kwargs_are_converted_too() -> None:
    def total(first: int, **others: int) -> int:
        return first + sum(others.values())

    assert call(total, {"first": 1, "x": 2, "y": 3}) == 6
    assert refused(total, {"first": 1, "x": "2"}) == "x: expected int, got str"
    assert call(everything, {"a": 1.0, "self": 2}) == {"a": 1.0, "self": 2}


def test_a_single_parameter_takes_an_input_that_is_not_an_object() -> None:
    def double(value: int) -> int:
        return value * 2

    assert call(double, 4.0) == 8
    assert refused(double, [1]) == "value: expected int, got array"
    assert refused(charge, "a") == "`charge` takes named arguments: its input must be an object."


def test_the_context_may_be_any_parameter_and_is_not_part_of_the_input() -> None:
    def first(context: NodeContext, a: int) -> object:
        return [context, a]

    def last(a: int, context: NodeContext | None = None) -> object:
        return [context, a]

    context = NodeContext(execution_id="e", context_id="n", attempt=1)
    for function in (first, last):
        registry = Registry()
        found = registry.find(registry.add(function))
        assert found.context == "context"
        assert found.call({"a": 1}, context) == [context, 1]
        with pytest.raises(BadInput, match="does not take this argument"):
            found.call({"a": 1, "context": {}}, context)


def test_an_input_cannot_replace_the_context() -> None:
    def work(context: NodeContext, **given: object) -> object:
        return [context, given]

    registry = Registry()
    with pytest.raises(BadInput, match=r"^context: the engine passes this to `work`"):
        registry.find(registry.add(work)).call({"context": {}}, None)


def test_async_functions_methods_partials_and_objects_are_typed_alike() -> None:
    async def later(a: int) -> int:
        return a

    class Adder:
        __name__ = "adder"

        def __init__(self, more: int) -> None:
            self.more = more

        def __call__(self, a: int) -> int:
            return a + self.more

        def method(self, a: int) -> int:
            return a + self.more

    def add(more: int, a: int) -> int:
        return a + more

    partial = functools.partial(add, 1)
    partial.__name__ = "partial"  # type: ignore[attr-defined]
    assert asyncio.run(call(later, {"a": 1.0})) == 1
    with pytest.raises(BadInput, match=r"^a: expected int, got str$"):
        asyncio.run(call(later, {"a": "x"}))
    for function in (Adder(1), Adder(1).method, partial):
        assert call(function, {"a": 1.0}) == 2
        assert refused(function, {"a": "x"}) == "a: expected int, got str"


def test_a_decorated_function_has_the_types_of_the_wrapped_one() -> None:
    def twice(function: AnyFunction) -> AnyFunction:
        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return [function(*args, **kwargs)] * 2

        return inner

    @twice
    def one(line: Line) -> object:
        return line

    assert call(one, {"line": {"sku": "a"}}) == [Line("a"), Line("a")]


def test_local_classes_are_visible_to_node() -> None:
    class Local(msgspec.Struct):
        a: int

    @node
    def decorated(value: Local) -> object:
        return value

    @node(name="other")
    def named(value: list[Local]) -> object:
        return value

    def using(value: Local) -> object:
        assert isinstance(value, Local)
        return value

    assert call(decorated, {"value": {"a": 1}}) == Local(1)
    assert call(named, {"value": [{"a": 1}]}) == [Local(1)]
    assert call(using, {"value": {"a": 1}}) == Local(1)


def test_an_annotation_that_cannot_be_resolved_is_reported_at_registration() -> None:
    def work(amount: Fraction) -> None: ...

    def give() -> Fraction: ...  # type: ignore[empty-body]

    for function, where in ((work, "its parameter `amount`"), (give, "its result")):
        with pytest.raises(BadFunction, match=r"`Fraction` of .* cannot be read: name 'Fraction'") as caught:
            Registry().add(function)
        assert where in caught.value.message


def test_a_parameter_that_json_cannot_fill_needs_a_default() -> None:
    def needs(folder: Path) -> None: ...

    def has(name: str, folder: Path = Path("here")) -> object:
        return [name, str(folder)]

    def either(part: Line | Order) -> None: ...

    with pytest.raises(BadFunction, match="JSON cannot fill its parameter `folder`"):
        Registry().add(needs)
    with pytest.raises(BadFunction, match="JSON cannot fill its parameter `part`"):
        Registry().add(either)
    assert call(has, {"name": "a"}) == ["a", "here"]
    assert "does not take this argument" in refused(has, {"name": "a", "folder": "there"})


def test_hostile_inputs_are_refused_or_passed_as_they_are() -> None:
    deep: object = 1
    for _ in range(190):
        deep = [deep]
    assert call(_takes_anything, deep) is deep
    assert "a: expected int, got array" in refused(_takes_a_number, {"a": deep})
    assert "__class__: " in refused(_takes_a_number, {"a": 1, "__class__": 1})
    assert "does not take this argument" in refused(_takes_a_number, {"a": 1, "": 1})
    assert len(refused(_takes_a_number, {"a": 1, "x" * 100_000: 1})) < 200


def _takes_a_number(a: int) -> int:
    return a


def _takes_anything(value: object) -> object:
    return value


def test_additional_arguments_keep_the_order_of_the_input() -> None:
    def take(count: int, **rest: int) -> list[str]:
        return [*rest][:count]

    registry = Registry()
    registry.add(take)
    given = {"count": 50, **{f"word{n * 7919 % 50}": n for n in range(50)}}
    assert registry.find("take").call(given, None) == list(given)[1:]
