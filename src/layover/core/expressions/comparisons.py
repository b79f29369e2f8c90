"""The relations, compiled: `==`, `!=`, `<`, `<=`, `>`, `>=`, `in`.

Most conditions compare some data with a constant. Then the constant's kind decides once, here, which values can be
equal to it or ordered against it, and the run time only tests the type and does one operation. An operation that is
bounded by a constant needs no meter; the general forms charge for the data they walk through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.expressions.errors import ExpressionError, locate_error
from layover.core.expressions.operators import MIRRORED, NUMERIC, ORDER, is_in, order
from layover.core.expressions.values import equal, no_overload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.expressions.frame import Frame, Run


def equality(left: Run, right: Run, *, wanted: bool, offset: int) -> Run:
    """Return `==`, or `!=` where false is wanted."""

    def run(frame: Frame) -> object:
        one, other = left(frame), right(frame)
        try:
            return equal(one, other, frame.meter) is wanted
        except ExpressionError as error:
            raise locate_error(error, offset) from None

    return run


def equality_with(left: Run, constant: object, *, wanted: bool) -> Run | None:
    """Return `==` or `!=` with a constant, if its kind allows a shortcut."""
    if constant is None or type(constant) is bool:
        return lambda frame: (left(frame) is constant) is wanted
    if type(constant) is str:
        if wanted:

            def is_text(frame: Frame) -> object:
                value = left(frame)
                return type(value) is str and value == constant

            return is_text

        def is_other_text(frame: Frame) -> object:
            value = left(frame)
            return type(value) is not str or value != constant

        return is_other_text
    if type(constant) in NUMERIC:

        def is_number(frame: Frame) -> object:
            value = left(frame)
            return (type(value) in NUMERIC and value == constant) is wanted

        return is_number
    return None


def ordering(relation: str, left: Run, right: Run, offset: int) -> Run:
    """Return one of `<`, `<=`, `>`, `>=`."""
    compare = ORDER[relation]

    def run(frame: Frame) -> object:
        one, other = left(frame), right(frame)
        if type(one) in NUMERIC and type(other) in NUMERIC:
            return compare(one, other)
        try:
            return order(relation, one, other, frame.meter)
        except ExpressionError as error:
            raise locate_error(error, offset) from None

    return run


def ordering_with(relation: str, left: Run, constant: object, offset: int, *, mirrored: bool) -> Run | None:
    """Return `<` or its like with a constant on the right, written on the left if mirrored, if there is a shortcut."""
    compare = ORDER[relation]

    def refused(value: object) -> ExpressionError:
        error = no_overload(MIRRORED[relation], constant, value) if mirrored else no_overload(relation, value, constant)
        return locate_error(error, offset)

    if type(constant) in NUMERIC:

        def with_number(frame: Frame) -> object:
            value = left(frame)
            if type(value) in NUMERIC:
                return compare(value, constant)
            raise refused(value)

        return with_number
    if type(constant) is str:

        def with_text(frame: Frame) -> object:
            value = left(frame)
            if type(value) is str:
                return compare(value, constant)
            raise refused(value)

        return with_text
    return None


def membership(needle: Run, container: Run, offset: int) -> Run:
    """Return `in`."""

    def run(frame: Frame) -> object:
        wanted, where = needle(frame), container(frame)
        try:
            return is_in(wanted, where, frame.meter)
        except ExpressionError as error:
            raise locate_error(error, offset) from None

    return run


def membership_of(needle: Run, constants: Sequence[object]) -> Run | None:
    """Return `in` a list of constants, if they are all text or all numbers: a set gives the same answer faster."""
    if all(type(constant) is str for constant in constants):
        texts = frozenset(constants)

        def in_texts(frame: Frame) -> object:
            value = needle(frame)
            return type(value) is str and value in texts

        return in_texts
    if all(type(constant) in NUMERIC and constant == constant for constant in constants):  # noqa: PLR0124 - NaN is not
        figures = frozenset(constants)

        def in_figures(frame: Frame) -> object:
            value = needle(frame)
            return type(value) in NUMERIC and value in figures

        return in_figures
    return None
