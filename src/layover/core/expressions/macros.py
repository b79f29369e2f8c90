"""Macros: calls that decide themselves which of their arguments are evaluated.

`has` checks a field without reading it, `default` survives a missing value, and the comprehensions bind a name.
A call with another number of arguments is left as a call and found unknown later, as in CEL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.syntax import Comprehension, Default, Has, Name, Quantifier, Select

if TYPE_CHECKING:
    from layover.core.expressions.syntax import FunctionCall, Node

MACROS: Final[dict[str, tuple[int, ...]]] = {
    "all": (2,),
    "exists": (2,),
    "exists_one": (2,),
    "filter": (2,),
    "map": (2, 3),
}
RESERVED: Final = frozenset(
    {
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    }
)


def expand(call: FunctionCall) -> Node:
    """Return the node of a call: the call itself, unless it is a macro."""
    if call.target is None:
        return _expand_global(call)
    if len(call.arguments) not in MACROS.get(call.function, ()):
        return call
    variable, *rest = call.arguments
    if not isinstance(variable, Name) or variable.root:
        raise ExpressionError(
            f"The first argument of `{call.function}` names the variable: it must be a plain name.",
            code="expression_syntax",
            offset=variable.offset,
        )
    condition = rest[0] if len(rest) == 2 else None
    quantifier = cast("Quantifier", call.function)
    return Comprehension(call.offset, quantifier, call.target, variable.name, condition, rest[-1])


def _expand_global(call: FunctionCall) -> Node:
    if call.function == "has" and len(call.arguments) == 1:
        field = call.arguments[0]
        if not isinstance(field, Select):
            raise ExpressionError(
                "`has` checks a field, as in `has(input.total)`.", code="expression_syntax", offset=field.offset
            )
        return Has(field.offset, field.operand, field.field)
    if call.function == "default" and len(call.arguments) == 2:
        return Default(call.offset, *call.arguments)
    return call
