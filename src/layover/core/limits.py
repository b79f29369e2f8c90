"""The limits that an execution has to pass before it starts, by their names.

A workflow has one limit for all its executions, or one for each key. A key is made of values that exist before the
execution does: its input, and its trigger.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from layover.core.expressions import ExpressionTime, Meter
from layover.core.expressions.template import text_of
from layover.core.signal_texts import is_writable

if TYPE_CHECKING:
    from layover.core.plan import Plan
    from layover.core.rendering import Renderer

_LONGEST: Final = 255


class LimitNames(NamedTuple):
    """The names under which an execution is counted; None where the workflow sets no limit."""

    concurrency: str | None
    rate: str | None


def limit_names(plan: Plan, given: object, trigger: object = None, now: int = 0) -> LimitNames:
    """Return the names of the limits of an execution; ExpressionError if a key cannot be evaluated."""
    workflow, names = plan.definition.name, {"input": given, "trigger": trigger}
    keys = (plan.concurrency_key, plan.rate_key)
    return LimitNames(*(_name(workflow, key, names, now) if key is not None else None for key in keys))


def _name(workflow: str, key: Renderer, names: dict[str, object], now: int) -> str:
    meter = Meter()
    text = text_of(key.render(names, ExpressionTime(now), meter), meter)
    return _bounded(f"{workflow}/{text}") if text else workflow


def _bounded(name: str) -> str:
    """Return a name that can be a key of a table: the name itself, or its beginning with a digest."""
    if len(name) <= _LONGEST and is_writable(name):
        return name
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    start = name[: _LONGEST - len(digest) - 1]
    return f"{start if is_writable(start) else ''}#{digest}"
