"""What an input of a trigger becomes: the values of its expressions, which see `trigger` and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from layover.core.expressions import ExpressionTime, Meter, compile_expression
from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.syntax import Logic
from layover.core.expressions.template import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.core.plan import PlannedTrigger

_LONGEST_ID = 255


class RenderedStart(NamedTuple):
    """The execution that an input starts."""

    input: object
    tags: tuple[str, ...]
    priority: int
    correlation_id: str | None


class SignalToSend(NamedTuple):
    """The signal that an input becomes."""

    name: str
    key: str
    data: object


def passes(planned: PlannedTrigger, trigger: Mapping[str, object], now: int) -> bool:
    """Return whether the filter lets an input pass; ExpressionError if that cannot be told."""
    program = planned.expressions.get("filter")
    if program is None:
        return True
    found = program.evaluate({"trigger": trigger}, ExpressionTime(now), Meter())
    if not isinstance(found, bool):
        raise ExpressionError("`filter` needs true or false.", code="no_such_overload")
    return found


def failing_part(planned: PlannedTrigger, trigger: Mapping[str, object], now: int) -> str:
    """Return the part of a filter that is false: the first one between `&&`, or all of it."""
    whole, program = planned.trigger.filter or "", planned.expressions.get("filter")
    if program is None or not isinstance(program.expression.ast, Logic) or program.expression.ast.connective != "&&":
        return whole
    operands = program.expression.ast.operands
    texts = _split(whole)
    if len(texts) != len(operands):
        return whole
    for text, operand in zip(texts, operands, strict=True):
        part = compile_expression(msgspec.structs.replace(program.expression, ast=operand))
        try:
            if part.evaluate({"trigger": trigger}, ExpressionTime(now), Meter()) is False:
                return text
        except ExpressionError:
            return text
    return whole


def _split(text: str) -> list[str]:
    """Return what stands between the `&&` of an expression that are in no parentheses and no quotes."""
    parts, depth, quote, begin, at = [], 0, "", 0, 0
    while at < len(text):
        letter = text[at]
        if quote:
            if letter == "\\":
                at += 1
            elif letter == quote:
                quote = ""
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith("&&", at):
            parts.append(text[begin:at].strip())
            at += 1
            begin = at + 1
        at += 1
    return [*parts, text[begin:].strip()]


def input_id(planned: PlannedTrigger, trigger: Mapping[str, object], now: int) -> str | None:
    """Return the id that the author gives an input; None if there is none, or it is empty or too long."""
    text = _text(planned, "id", trigger, now)
    return text if text and len(text) <= _LONGEST_ID else None


def render_start(planned: PlannedTrigger, trigger: Mapping[str, object], now: int) -> RenderedStart:
    """Return what an execution is started with; ExpressionError if a template cannot be rendered."""
    names = {"trigger": trigger}
    tags = [_text(planned, f"tags.{n}", trigger, now) for n in range(len(planned.trigger.tags))]
    return RenderedStart(
        input=planned.renderers["input"].render(names, ExpressionTime(now), Meter()),
        tags=tuple(tag for tag in tags if tag),
        priority=_priority(planned, trigger, now),
        correlation_id=_text(planned, "correlation_id", trigger, now),
    )


def render_signal(planned: PlannedTrigger, trigger: Mapping[str, object], now: int) -> SignalToSend | None:
    """Return the signal that is sent instead of a start, if the trigger has one."""
    deliver = planned.trigger.deliver
    if deliver is None:
        return None
    data = planned.renderers["input"].render({"trigger": trigger}, ExpressionTime(now), Meter())
    return SignalToSend(deliver.signal, _text(planned, "deliver.key", trigger, now) or "", data)


def _text(planned: PlannedTrigger, path: str, trigger: Mapping[str, object], now: int) -> str | None:
    renderer = planned.renderers.get(path)
    if renderer is None:
        return None
    meter = Meter()
    return text_of(renderer.render({"trigger": trigger}, ExpressionTime(now), meter), meter)


def _priority(planned: PlannedTrigger, trigger: Mapping[str, object], now: int) -> int:
    written = planned.trigger.priority
    if isinstance(written, int):
        return written
    text = _text(planned, "priority", trigger, now) or ""
    try:
        return int(text)
    except ValueError as error:
        raise ExpressionError("`priority` needs a whole number.", code="no_such_overload") from error
