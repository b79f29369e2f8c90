"""`&&` and `||`, compiled.

CEL makes both commutative in their errors: `false && error` and `error && false` are false. So an operand that fails
is remembered while the others are tried, and its error is raised only if none of them decides the outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.expressions.errors import BudgetExceeded, ExpressionError, locate_error
from layover.core.expressions.operators import boolean

if TYPE_CHECKING:
    from layover.core.expressions.frame import Frame, Run
    from layover.core.expressions.syntax import Connective


def logic(connective: Connective, runs: list[Run], offset: int) -> Run:
    """Return `&&` or `

    `: an operand that decides the outcome outweighs any failed one, whatever their order."""
    decisive = connective == "||"
    other = not decisive

    def run(frame: Frame) -> object:
        failure: ExpressionError | None = None
        for operand in runs:
            try:
                value = operand(frame)
                if value is decisive:
                    return decisive
                if value is not other:
                    boolean(connective, value)
            except BudgetExceeded:
                raise
            except ExpressionError as error:
                failure = failure or locate_error(error, offset)
        if failure is not None:
            raise failure
        return other

    return run
