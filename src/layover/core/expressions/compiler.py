"""A tree to closures.

Each node becomes a function from a frame to a value; the kind of the node, its constants and the fitting shortcut are
decided once, here. The compiler also adds up the cost: every node outside a comprehension runs at most once, so
their number is the program's cost, charged before it starts; the nodes of a comprehension's body are the cost of one
round. A program in which nothing depends on the size of data needs no meter at all.
"""

from __future__ import annotations

from typing import Final, assert_never

import msgspec

from layover.core.expressions import arithmetic, calls, comparisons, connectives, loops, paths, patterns
from layover.core.expressions.errors import ExpressionError, locate_error
from layover.core.expressions.frame import EPOCH, Frame, Run
from layover.core.expressions.instants import Duration, Timestamp
from layover.core.expressions.limits import ExpressionLimits, Meter
from layover.core.expressions.operators import KEYS, MIRRORED, ORDER, at, boolean, negate
from layover.core.expressions.syntax import (
    Chain,
    Compare,
    Comprehension,
    Conditional,
    Default,
    FunctionCall,
    Has,
    Index,
    ListOfNodes,
    Literal_,
    Logic,
    MapOfNodes,
    Name,
    Negate,
    Node,
    Not,
    Select,
    path_text,
)
from layover.core.expressions.values import as_map, display, holds
from layover.core.payloads import RESERVED

_MISSING: Final = frozenset({"no_such_key", "out_of_range"})
_MAX_PATTERNS: Final = 32  # constant patterns that a program keeps compiled; the rest are paid for at each use
_MAX_COMPILATION: Final = 30_000  # steps that compiling those patterns may take together
_FOLDING: Final = ExpressionLimits(steps=10_000, size=10_000)  # for all constants of an expression together
_FOLDED: Final = (bool, int, float, str, Timestamp, Duration)


class CompiledNode(msgspec.Struct, frozen=True):
    """A compiled node; `known` parts have the same value in every frame."""

    run: Run
    known: bool = False
    value: object = None


def constant(value: object) -> CompiledNode:
    """Return a part with a constant value."""
    return CompiledNode(lambda _: value, known=True, value=value)


class Compiler:
    """Compiles one expression; afterwards knows its cost, its slots, whether it needs a meter and whether it builds."""

    def __init__(self) -> None:
        self.cost = 0
        self.slots = 0
        self.metered = False
        self.builds = False
        self._variables: list[str] = []
        self._patterns = 0
        self._compilation = 0
        self._scratch = Meter(_FOLDING)

    def compile(self, node: Node) -> CompiledNode:  # noqa: C901, PLR0912 - one case per kind of node
        """Return a node, compiled."""
        self.cost += 1
        match node:
            case Literal_():
                return constant(node.value)
            case Name() | Select():
                return self._path(node)
            case Index():
                return self._index(node)
            case Has():
                return self._has(node)
            case FunctionCall():
                return self._call(node)
            case Default():
                return self._default(node)
            case ListOfNodes():
                return self._list(node)
            case MapOfNodes():
                return self._map(node)
            case Not():
                return self._not(node)
            case Negate():
                return self._negate(node)
            case Chain():
                return self._chain(node)
            case Compare():
                return self._compare(node)
            case Logic():
                return self._logic(node)
            case Conditional():
                return self._conditional(node)
            case Comprehension():
                return self._comprehension(node)
            case _:
                assert_never(node)

    def _path(self, node: Node) -> CompiledNode:
        start, steps = paths.steps_of(node)
        self.cost += len(steps)
        if isinstance(start, Name) and (start.root or start.name not in self._variables):
            return CompiledNode(paths.from_root(start, steps))
        if isinstance(start, Name):
            slot = len(self._variables) - 1 - self._variables[::-1].index(start.name)
            if not steps:
                return CompiledNode(lambda frame: frame.slots[slot])
            walk = paths.walker(steps)
            return CompiledNode(lambda frame: walk(frame.slots[slot]))
        operand = self.compile(start).run
        walk = paths.walker(steps)
        return CompiledNode(lambda frame: walk(operand(frame)))

    def _index(self, node: Index) -> CompiledNode:
        if isinstance(node.index, Literal_) and type(node.index.value) is str:
            return self._path(node)
        operand, key = self.compile(node.operand).run, self.compile(node.index).run
        self.metered = self.metered or not isinstance(node.index, Literal_)
        path = path_text(node)

        def run(frame: Frame) -> object:
            container, position = operand(frame), key(frame)
            if type(container) is list and type(position) is int and 0 <= position < len(container):
                return container[position]
            try:
                return at(container, position, frame.meter, path)
            except ExpressionError as error:
                raise locate_error(error, node.offset) from None

        return CompiledNode(run)

    def _has(self, node: Has) -> CompiledNode:
        operand = self.compile(node.operand).run
        field = node.field

        def run(frame: Frame) -> object:
            value = operand(frame)
            if type(value) is dict:
                return field in value
            entries = as_map(value)
            if entries is None:
                raise paths.unselectable(value, node)
            return field in entries

        return CompiledNode(run)

    def _call(self, node: FunctionCall) -> CompiledNode:
        function = calls.resolve(node)
        nodes = node.arguments if node.target is None else (node.target, *node.arguments)
        parts = [self.compile(argument) for argument in nodes]
        run = calls.caller(function, [part.run for part in parts], node.offset)
        if function.name == "matches" and parts[1].known and type(parts[1].value) is str:
            self._patterns += 1
            self._compilation += patterns.compilation_cost(parts[1].value)
            if self._patterns <= _MAX_PATTERNS and self._compilation <= _MAX_COMPILATION:
                run = calls.matcher(parts[0].run, parts[1].value, node.offset)
        if function.steady and all(part.known for part in parts):
            return self._folded(run)
        self.metered = self.metered or function.metered
        return CompiledNode(run)

    def _folded(self, run: Run) -> CompiledNode:
        """Evaluate a constant part at once; an error, or a mutable value, is left for run time."""
        try:
            value = run(Frame({}, EPOCH, self._scratch, []))
        except ExpressionError:
            value = None
        if type(value) in _FOLDED:
            return constant(value)
        self.metered = True
        return CompiledNode(run)

    def _default(self, node: Default) -> CompiledNode:
        value, fallback = self.compile(node.value).run, self.compile(node.fallback).run

        def run(frame: Frame) -> object:
            try:
                found = value(frame)
            except ExpressionError as error:
                if error.code not in _MISSING:
                    raise
                found = None
            return fallback(frame) if found is None else found

        return CompiledNode(run)

    def _list(self, node: ListOfNodes) -> CompiledNode:
        runs = [self.compile(item).run for item in node.items]
        self.builds = True
        return CompiledNode(lambda frame: [run(frame) for run in runs])

    def _map(self, node: MapOfNodes) -> CompiledNode:
        self.builds = True
        entries = [(self.compile(key).run, self.compile(value).run, key.offset) for key, value in node.entries]

        def run(frame: Frame) -> object:
            made: dict[object, object] = {}
            for key, value, offset in entries:
                name = key(frame)
                if type(name) not in KEYS or type(name) is float:
                    raise ExpressionError(
                        "The key of a map must be a string, an int or a bool.", code="invalid_argument", offset=offset
                    )
                if type(name) is str:
                    frame.meter.scan(len(name))
                if name in RESERVED:
                    raise ExpressionError(f"The key `{name}` is reserved.", code="invalid_argument", offset=offset)
                if name in made:
                    twin = "" if holds(made, name, frame.meter) else " (as a key, `true` equals 1 and `false` equals 0)"
                    raise ExpressionError(
                        f"The map has the key `{display(name)}` twice{twin}.", code="invalid_argument", offset=offset
                    )
                made[name] = value(frame)
            return made

        return CompiledNode(run)

    def _not(self, node: Not) -> CompiledNode:
        operand = self.compile(node.operand)
        inner, offset = operand.run, node.offset

        def run(frame: Frame) -> object:
            value = inner(frame)
            if type(value) is bool:
                return not value
            try:
                return boolean("!", value)
            except ExpressionError as error:
                raise locate_error(error, offset) from None

        return self._folded(run) if operand.known else CompiledNode(run)

    def _negate(self, node: Negate) -> CompiledNode:
        operand = self.compile(node.operand)
        inner, offset = operand.run, node.offset

        def run(frame: Frame) -> object:
            try:
                return negate(inner(frame))
            except ExpressionError as error:
                raise locate_error(error, offset) from None

        return self._folded(run) if operand.known else CompiledNode(run)

    def _chain(self, node: Chain) -> CompiledNode:
        first = self.compile(node.first)
        terms = [(term, self.compile(term.operand)) for term in node.terms]
        known = first.known and all(part.known for _, part in terms)
        run = arithmetic.chain(first.run, [(term.operator, part.run, term.offset) for term, part in terms])
        if known:
            return self._folded(run)
        adds = any(term.operator == "+" for term in node.terms)
        self.builds = self.builds or adds
        self.metered = self.metered or adds
        return CompiledNode(run)

    def _compare(self, node: Compare) -> CompiledNode:
        if node.relation == "in":
            return self._membership(node)
        left, right = self.compile(node.left), self.compile(node.right)
        relation, offset = node.relation, node.offset
        mirrored = left.known and not right.known
        data, known = (right, left) if mirrored else (left, right)
        quick: Run | None = None
        if relation in ORDER:
            full = comparisons.ordering(relation, left.run, right.run, offset)
            if known.known:
                turned = MIRRORED[relation] if mirrored else relation
                quick = comparisons.ordering_with(turned, data.run, known.value, offset, mirrored=mirrored)
        else:
            wanted = relation == "=="
            full = comparisons.equality(left.run, right.run, wanted=wanted, offset=offset)
            if known.known:
                quick = comparisons.equality_with(data.run, known.value, wanted=wanted)
        if left.known and right.known:
            return self._folded(quick or full)
        self.metered = self.metered or quick is None
        return CompiledNode(quick or full)

    def _membership(self, node: Compare) -> CompiledNode:
        needle, builds = self.compile(node.left), self.builds
        container = self.compile(node.right)
        if isinstance(node.right, ListOfNodes) and all(isinstance(item, Literal_) for item in node.right.items):
            values = [item.value for item in node.right.items if isinstance(item, Literal_)]
            quick = comparisons.membership_of(needle.run, values)
            if quick is not None:
                self.builds = builds
                return CompiledNode(quick)
        self.metered = True
        return CompiledNode(comparisons.membership(needle.run, container.run, node.offset))

    def _logic(self, node: Logic) -> CompiledNode:
        runs = [self.compile(operand).run for operand in node.operands]
        return CompiledNode(connectives.logic(node.connective, runs, node.offset))

    def _conditional(self, node: Conditional) -> CompiledNode:
        condition, then, otherwise = (self.compile(n).run for n in (node.condition, node.then, node.otherwise))
        offset = node.offset

        def run(frame: Frame) -> object:
            outcome = condition(frame)
            if outcome is True:
                return then(frame)
            if outcome is False:
                return otherwise(frame)
            try:
                return boolean("?:", outcome)
            except ExpressionError as error:
                raise locate_error(error, offset) from None

        return CompiledNode(run)

    def _comprehension(self, node: Comprehension) -> CompiledNode:
        operand = self.compile(node.operand).run
        outside = self.cost
        self.cost = 0
        slot = len(self._variables)
        self._variables.append(node.variable)
        self.slots = max(self.slots, len(self._variables))
        condition = None if node.condition is None else self.compile(node.condition).run
        body = self.compile(node.body).run
        self._variables.pop()
        loop = loops.CompiledComprehension(node.quantifier, operand, slot, condition, body, self.cost, node.offset)
        self.cost = outside
        self.metered = True
        self.builds = self.builds or node.quantifier == "map"
        return CompiledNode(loops.runner(loop))
