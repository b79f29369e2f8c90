"""Run one expression as a trial: its outcome, its charged cost, its work and memory.

Nothing here reads a clock. Work is the count of the parser and the meter, and the number of Python calls, which is the
same on every machine. Memory is the peak above the allocation before.
"""

from __future__ import annotations

import sys
import tracemalloc
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from layover.core.expressions import (
    DYN,
    ExpressionError,
    ExpressionLimits,
    ExpressionTime,
    Meter,
    Template,
    check,
    compile_expression,
    parse,
    to_json,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

LIMITS = ExpressionLimits()
MOMENT = ExpressionTime(now=1_700_000_000_000, seed="hostile")
SCOPE = {"input": DYN, "vars": DYN}
MEGABYTE = 1 << 20


@dataclass
class Trial:
    """The report of one trial; `error` is None where there was a value."""

    value: object = field(default=None, repr=False)
    error: ExpressionError | None = None
    refused: bool = False
    parse_steps: int = 0
    steps: int = 0
    size: int = 0
    calls: int = 0
    peak: int = 0

    @property
    def verdict(self) -> str:
        """The error's code, or `value`."""
        return "value" if self.error is None else self.error.code


def try_expression(source: str, context: Mapping[str, object] | None = None, *, count_calls: bool = False) -> Trial:
    """Evaluate an expression and convert its value to JSON; any error but ours escapes and fails the test."""
    trial = Trial(refused=True)
    meter = Meter(LIMITS)

    def run() -> object:
        expression = parse(source)
        trial.parse_steps = expression.steps
        check(expression, SCOPE)
        program = compile_expression(expression)
        trial.refused = False
        return to_json(program.evaluate(context or {}, moment=MOMENT, meter=meter), meter)

    return _conduct(trial, meter, run, count_calls=count_calls)


def try_template(text: str, context: Mapping[str, object] | None = None) -> Trial:
    """Parse and render a template."""
    trial = Trial(refused=True)
    meter = Meter(LIMITS)

    def run() -> object:
        template = Template.parse(text)
        trial.refused = False
        return to_json(template.render(context or {}, moment=MOMENT, meter=meter), meter)

    return _conduct(trial, meter, run)


def _conduct(trial: Trial, meter: Meter, run: Callable[[], object], *, count_calls: bool = False) -> Trial:
    with _measured(trial, count_calls=count_calls):
        try:
            trial.value = run()
        except ExpressionError as error:
            trial.error = error
    trial.steps, trial.size = meter.steps, meter.size
    return trial


@contextmanager
def _measured(trial: Trial, *, count_calls: bool) -> Iterator[None]:
    def count(_frame: object, _event: str, _argument: object) -> None:
        trial.calls += 1

    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    outer = sys.getprofile()
    if count_calls:
        sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(outer)
        trial.peak = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
