"""Short helpers to evaluate in tests: a value, an error's code, and the charged cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.expressions import ExpressionError, ExpressionLimits, ExpressionTime, Meter, compile_expression, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

MOMENT = ExpressionTime(now=1_700_000_000_123, seed="run-1")


def value(source: str, context: Mapping[str, object] | None = None) -> object:
    return compile_expression(parse(source)).evaluate(context or {}, MOMENT)


def error(source: str, context: Mapping[str, object] | None = None) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        value(source, context)
    return caught.value


def code(source: str, context: Mapping[str, object] | None = None) -> str:
    return error(source, context).code


def charged(source: str, context: Mapping[str, object] | None = None, limits: ExpressionLimits | None = None) -> Meter:
    meter = Meter(limits or ExpressionLimits())
    compile_expression(parse(source)).evaluate(context or {}, MOMENT, meter)
    return meter
