"""Texts with expressions in them.

A text that is exactly one `${ expression }` gives the value itself, whatever its kind. Anything else is text in
which each `${ … }` is replaced by the text of its value. `$${` is a plain `${`. Values are never read as templates
again, so data cannot smuggle an expression in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.expressions.errors import ExpressionError, shift_error
from layover.core.expressions.frame import EPOCH, ExpressionTime
from layover.core.expressions.instants import Duration, Timestamp, format_duration, iso_timestamp
from layover.core.expressions.json_text import write_json
from layover.core.expressions.limits import DEFAULT, ExpressionLimits, Meter
from layover.core.expressions.numbers import plain_double
from layover.core.expressions.parser import Expression, parse_embedded
from layover.core.expressions.paths import key_of, reader, steps_of
from layover.core.expressions.program import Program
from layover.core.expressions.syntax import Name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from layover.core.expressions.values import Value

_OPEN = "${"
_ESCAPED = "$${"
_MANY: Final = frozenset({"nodes", "errors", "vars"})
_PUT_IN_LATER: Final = frozenset({"$token", "$secret"})


class Template:
    """A parsed text; `expressions` are those in it, each with its offset in the text."""

    __slots__ = ("_limits", "_pieces", "_programs", "_whole", "expressions", "text")

    def __init__(
        self, text: str, pieces: list[str], expressions: list[tuple[int, Expression]], limits: ExpressionLimits
    ) -> None:
        self.text = text
        self.expressions = tuple(expressions)
        self._pieces = pieces
        self._limits = limits
        self._programs: list[tuple[int, Program]] = []
        self._whole = len(expressions) == 1 and pieces == ["", ""]

    @staticmethod
    def parse(text: str, limits: ExpressionLimits = DEFAULT) -> Template:
        """Parse a text, or raise an ExpressionError whose offset counts from the text's beginning."""
        pieces: list[str] = []
        expressions: list[tuple[int, Expression]] = []
        position = piece = nodes = 0
        while (found := text.find(_OPEN, position)) >= 0:
            start = found + len(_OPEN)
            if found > position and text[found - 1] == "$":
                position = start
                continue
            pieces.append(text[piece:found].replace(_ESCAPED, _OPEN))
            expression, end = parse_embedded(text, start, limits)
            expressions.append((start, expression))
            nodes += expression.nodes
            if nodes > limits.nodes:
                raise ExpressionError(
                    f"The expressions of this text have more than {limits.nodes} parts together.",
                    code="expression_too_large",
                    offset=start,
                )
            position = piece = end + 1
        pieces.append(text[piece:].replace(_ESCAPED, _OPEN))
        return Template(text, pieces, expressions, limits)

    @property
    def literal(self) -> bool:
        """Whether the text holds no expression."""
        return not self.expressions

    def reader(self) -> Callable[[Mapping[str, Value]], Value] | None:
        """Return a function that reads the text's value from data, if it is a single path without evaluation."""
        if not self._whole:
            return None
        offset, expression = self.expressions[0]
        start, steps = steps_of(expression.ast)
        if not isinstance(start, Name):
            return None
        return reader(start, steps, offset)

    def path(self) -> tuple[str, ...]:
        """Return the names of the path that the text is and nothing else, such as `${input.order.id}`; else none."""
        if not self._whole:
            return ()
        start, steps = steps_of(self.expressions[0][1].ast)
        return (start.name, *map(key_of, steps)) if isinstance(start, Name) else ()

    def reads_one_value(self) -> bool:
        """Return whether it gives a single value of the data, and not all of some kind."""
        if not self._whole:
            return False
        start, steps = steps_of(self.expressions[0][1].ast)
        return isinstance(start, Name) and (bool(steps) or start.name not in _MANY)

    def render(self, context: Mapping[str, Value], moment: ExpressionTime = EPOCH, meter: Meter | None = None) -> Value:
        """Return the value of the text for some data."""
        if not self.expressions:
            return self._pieces[0]
        meter = Meter(self._limits) if meter is None else meter
        programs = self._compiled()
        if self._whole:
            return _evaluate(programs[0], context, moment, meter)
        texts = [self._pieces[0]]
        for program, piece in zip(programs, self._pieces[1:], strict=True):
            texts.append(text_of(_evaluate(program, context, moment, meter), meter))
            texts.append(piece)
        meter.build(sum(map(len, texts)))
        return "".join(texts)

    def _compiled(self) -> list[tuple[int, Program]]:
        if not self._programs:
            self._programs = [(offset, _compile(offset, expression)) for offset, expression in self.expressions]
        return self._programs


def text_of(value: Value, meter: Meter) -> str:
    """Return the text of a value within a longer text: null is empty, structures are JSON."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) is float:
        return plain_double(value)
    if isinstance(value, Timestamp):
        return iso_timestamp(value)
    if isinstance(value, Duration):
        return format_duration(value)
    if type(value) is dict and not _PUT_IN_LATER.isdisjoint(value):
        message = "A token or a secret is filled in when the call is made: it cannot be part of a longer text."
        raise ExpressionError(message, code="invalid_argument")
    return write_json(value, meter)


def _evaluate(
    program: tuple[int, Program], context: Mapping[str, Value], moment: ExpressionTime, meter: Meter
) -> Value:
    start, compiled = program
    try:
        return compiled.evaluate(context, moment, meter)
    except ExpressionError as error:
        raise shift_error(error, start) from None


def _compile(start: int, expression: Expression) -> Program:
    try:
        return Program(expression)
    except ExpressionError as error:
        raise shift_error(error, start) from None
