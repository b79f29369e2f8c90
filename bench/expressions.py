"""What an expression costs, beside Google's library in the same run: `python bench/expressions.py [--small]`."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from cel_expr_python import cel  # type: ignore[import-untyped]  # Google ships no marker for its types

from layover.core.expressions import (
    DYN,
    ExpressionLimits,
    ExpressionTime,
    Meter,
    Template,
    check,
    compile_expression,
    parse,
)
from measure import compare, size_of, table

if TYPE_CHECKING:
    from collections.abc import Callable

CONDITION = "input.total > 1000 && input.customer.tier in ['gold', 'silver'] && input.region != 'test'"
COMPREHENSION = "input.lines.filter(line, line.quantity > 5).map(line, line.quantity * 2).size()"
TEMPLATE = (
    "Order ${input.id}: ${input.total > 1000 ? 'large' : 'small'} order of ${input.customer.name}, "
    "${size(input.lines)} lines"
)

LIMITS = ExpressionLimits()
MOMENT = ExpressionTime(now=1_700_000_000_000, seed="bench")
ROUNDS, MIN_TIME = size_of(sys.argv[1:]).of((7, 0.05), quick=(3, 0.05), small=(1, 0.0))
ENVIRONMENT = cel.NewEnv(variables={"input": cel.Type.DYN})


def order(lines: int) -> dict[str, object]:
    """Return a context whose size is its number of lines."""
    return {
        "input": {
            "id": "A-1042",
            "total": 1250,
            "region": "eu",
            "customer": {"name": "Ada", "tier": "gold"},
            "lines": [{"sku": f"sku-{number}", "quantity": number % 10} for number in range(lines)],
        }
    }


def ours(source: str, context: dict[str, object]) -> Callable[[], object]:
    program = compile_expression(parse(source))
    return lambda: program.evaluate(context, moment=MOMENT, meter=Meter(LIMITS))


def google(source: str, context: dict[str, object]) -> Callable[[], object]:
    """Google's library as it is called with plain data."""
    expression = ENVIRONMENT.compile(source)
    return lambda: expression.eval(data=context)


def google_prepared(source: str, context: dict[str, object]) -> Callable[[], object]:
    """Google's library with the data wrapped once beforehand, which suits it best."""
    expression = ENVIRONMENT.compile(source)
    activation = ENVIRONMENT.Activation(context)
    return lambda: expression.eval(activation)


def timed(functions: dict[str, Callable[[], object]]) -> dict[str, float]:
    return compare(functions, ROUNDS, MIN_TIME)


def evaluations() -> None:
    small, large = order(3), order(5_000)
    implementations = {"ours": ours, "Google": google, "Google, data wrapped beforehand": google_prepared}
    small_times = timed({name: make(CONDITION, small) for name, make in implementations.items()})
    large_times = timed({name: make(CONDITION, large) for name, make in implementations.items()})
    sizes = timed({"small": ours(CONDITION, small), "large": ours(CONDITION, large)})
    rows: list[tuple[str, ...]] = [("", "evaluations/s", "µs", "µs with 5,000 items", "ours is faster by")]
    rows += [
        (
            name,
            f"{1 / small_times[name]:,.0f}",
            micros(small_times[name]),
            micros(large_times[name]),
            f"{small_times[name] / small_times['ours']:.1f}x / {large_times[name] / large_times['ours']:.1f}x",
        )
        for name in implementations
    ]
    print(table(f"A condition of three clauses: {CONDITION}", rows))
    print(f"  ours with 5,000 items takes {sizes['large'] / sizes['small']:.2f} of the time with 3\n")


def preparation() -> None:
    times = timed(
        {
            "parse": partial(parse, CONDITION),
            "parse, check, compile": prepare,
            "Google: compile": partial(ENVIRONMENT.compile, CONDITION),
        }
    )
    print(
        table("Before the first evaluation", [("", "µs"), *((name, micros(time)) for name, time in times.items())]),
        "\n",
    )


def prepare() -> object:
    expression = parse(CONDITION)
    check(expression, {"input": DYN})
    return compile_expression(expression)


def larger_things() -> None:
    context = order(100)
    template = Template.parse(TEMPLATE)
    times = timed(
        {
            "a comprehension over 100 items": ours(COMPREHENSION, context),
            "Google: the same": google(COMPREHENSION, context),
            "a template with four expressions": lambda: template.render(context, moment=MOMENT, meter=Meter(LIMITS)),
        }
    )
    print(table("Larger things", [("", "µs"), *((name, micros(time)) for name, time in times.items())]))


def micros(seconds: float) -> str:
    return f"{seconds * 1e6:,.2f}"


if __name__ == "__main__":
    evaluations()
    preparation()
    larger_things()
