"""The comprehensions: `all`, `exists`, `exists_one`, `filter`, `map`.

Each round is charged before it runs, with the cost of its body. `all` and `exists` absorb errors as `&&` and `||` do:
one element that decides the outcome outweighs any that failed, before or after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.expressions.errors import BudgetExceeded, ExpressionError
from layover.core.expressions.frame import Frame, Run
from layover.core.expressions.operators import boolean
from layover.core.expressions.syntax import Quantifier
from layover.core.expressions.values import as_list, as_map, no_overload

if TYPE_CHECKING:
    from collections.abc import Iterable


class CompiledComprehension(msgspec.Struct, frozen=True):
    """The parts of a comprehension, compiled: `cost` is what one round takes."""

    quantifier: Quantifier
    operand: Run
    slot: int
    condition: Run | None
    body: Run
    cost: int
    offset: int

    def items(self, frame: Frame) -> Iterable[object]:
        """Return the elements of a list or the keys of a map."""
        value = self.operand(frame)
        if type(value) is list:
            return value
        found = as_list(value)
        if found is not None:
            return found
        entries = as_map(value)
        if entries is not None:
            return entries
        error = no_overload(self.quantifier, value)
        error.offset = self.offset
        raise error


def runner(loop: CompiledComprehension) -> Run:
    """Return a function that runs a comprehension."""
    match loop.quantifier:
        case "all":
            return _deciding(loop, decisive=False)
        case "exists":
            return _deciding(loop, decisive=True)
        case "exists_one":
            return _exists_one(loop)
        case "filter":
            return _filter(loop)
        case "map":
            return _map(loop) if loop.condition is None else _filter_map(loop, loop.condition)


def _deciding(loop: CompiledComprehension, *, decisive: bool) -> Run:
    slot, body, cost = loop.slot, loop.body, loop.cost

    def run(frame: Frame) -> object:
        failure: ExpressionError | None = None
        slots, charge = frame.slots, frame.meter.charge
        for item in loop.items(frame):
            charge(cost)
            slots[slot] = item
            try:
                outcome = boolean(loop.quantifier, body(frame))
            except BudgetExceeded:
                raise
            except ExpressionError as error:
                failure = failure or error
                continue
            if outcome is decisive:
                return decisive
        if failure is not None:
            raise failure
        return not decisive

    return run


def _exists_one(loop: CompiledComprehension) -> Run:
    slot, body, cost = loop.slot, loop.body, loop.cost

    def run(frame: Frame) -> object:
        found = 0
        slots, charge = frame.slots, frame.meter.charge
        for item in loop.items(frame):
            charge(cost)
            slots[slot] = item
            found += boolean("exists_one", body(frame))
        return found == 1

    return run


def _filter(loop: CompiledComprehension) -> Run:
    slot, body, cost = loop.slot, loop.body, loop.cost

    def run(frame: Frame) -> object:
        kept: list[object] = []
        slots, charge = frame.slots, frame.meter.charge
        for item in loop.items(frame):
            charge(cost, 1)
            slots[slot] = item
            if boolean("filter", body(frame)):
                kept.append(item)
        return kept

    return run


def _map(loop: CompiledComprehension) -> Run:
    slot, body, cost = loop.slot, loop.body, loop.cost

    def run(frame: Frame) -> object:
        made: list[object] = []
        slots, charge = frame.slots, frame.meter.charge
        for item in loop.items(frame):
            charge(cost, 1)
            slots[slot] = item
            made.append(body(frame))
        return made

    return run


def _filter_map(loop: CompiledComprehension, condition: Run) -> Run:
    slot, body, cost = loop.slot, loop.body, loop.cost

    def run(frame: Frame) -> object:
        made: list[object] = []
        slots, charge = frame.slots, frame.meter.charge
        for item in loop.items(frame):
            charge(cost, 1)
            slots[slot] = item
            if boolean("map", condition(frame)):
                made.append(body(frame))
        return made

    return run
