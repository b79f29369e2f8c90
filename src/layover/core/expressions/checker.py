"""Problems of an expression before it runs: every name that does not exist, every operation that cannot work.

The checker is generous. It knows a type for some parts (`RecordType`s of what is in scope, literals, results of
functions) and reports an operation only if it fails for every value of those types; where it knows nothing it says
nothing. It collects all problems instead of stopping at the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from layover.core.calendar import parse_cron, zone_named
from layover.core.expressions import calls
from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.hints import NAMES, as_suffix, for_field
from layover.core.expressions.overloads import KEY, arithmetic, comparable
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
    children,
    path_text,
)
from layover.core.expressions.types import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    NULL,
    NUMBER,
    STRING,
    ListOf,
    MapOf,
    RecordType,
    Type,
    common,
    kinds,
    may_be,
    name_of,
)
from layover.core.suggest import Suggestions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from layover.core.expressions.parser import Expression

_LIST = ListOf(DYN)
_MAP = MapOf(DYN)


def check(
    expression: Expression, scope: Mapping[str, Type], suggestions: Suggestions | None = None
) -> tuple[Type, list[ExpressionError]]:
    """Return the type of an expression's result, and all problems that can be seen without data.

    Expressions of one text share `suggestions`, so that the search for misspelt names is bounded for all of them.
    """
    checker = _Checker(scope, suggestions or Suggestions())
    result = checker.type_of(expression.ast)
    return result, sorted(checker.problems, key=lambda problem: problem.offset or 0)


class _Checker:
    def __init__(self, scope: Mapping[str, Type], suggestions: Suggestions) -> None:
        self.problems: list[ExpressionError] = []
        self._suggestions = suggestions
        self._scope = scope
        self._variables: list[tuple[str, Type]] = []

    def type_of(self, node: Node) -> Type:  # noqa: C901, PLR0912 - one case per kind of node
        match node:
            case Literal_():
                return _type_of_constant(node)
            case Name():
                return self._name(node)
            case Select():
                return self._field(self.type_of(node.operand), node.field, node)
            case Has():
                operand = self.type_of(node.operand)
                if not (isinstance(operand, RecordType) and operand.literal):
                    self._field(operand, node.field, node)
                return BOOL
            case Index():
                return self._index(node)
            case FunctionCall():
                return self._call(node)
            case Default():
                value, fallback = self._value_or_nothing(node.value), self.type_of(node.fallback)
                return fallback if value == NULL else common([value, fallback])
            case ListOfNodes():
                return ListOf(common([self.type_of(item) for item in node.items]))
            case MapOfNodes():
                return self._map(node)
            case Not():
                self._need(BOOL, self.type_of(node.operand), "!", node)
                return BOOL
            case Negate():
                operand = self.type_of(node.operand)
                self._need(NUMBER, operand, "-", node)
                return operand if operand in (INT, DOUBLE) else NUMBER
            case Chain():
                return self._chain(node)
            case Compare():
                return self._compare(node)
            case Logic():
                for part in node.operands:
                    self._need(BOOL, self.type_of(part), node.connective, part)
                return BOOL
            case Conditional():
                self._need(BOOL, self.type_of(node.condition), "?:", node)
                return common([self.type_of(node.then), self.type_of(node.otherwise)])
            case Comprehension():
                return self._comprehension(node)
            case _:
                assert_never(node)

    def _value_or_nothing(self, node: Node) -> Type:
        """Return the type of the value in `default`: a map that is written out may lack the field."""
        if isinstance(node, Select):
            operand = self.type_of(node.operand)
            if isinstance(operand, RecordType) and operand.literal:
                return operand.fields.get(node.field, DYN)
            return self._field(operand, node.field, node)
        return self.type_of(node)

    def _unknown(self, sentence: str, offset: int) -> None:
        self.problems.append(ExpressionError(sentence, code="expression_unknown_name", offset=offset))

    def _mismatch(self, sentence: str, offset: int) -> None:
        self.problems.append(ExpressionError(sentence, code="expression_type", offset=offset))

    def _hint(self, name: str, known: Iterable[str], place: str) -> str:
        """Return a suggestion for a name; `nodes.delay-node` was read as a subtraction."""
        if self._suggestions.left <= 0:
            return ""
        if place:
            dashed = self._suggestions.starting_with(f"{name}-", known)
            if dashed is not None:
                return f' Did you mean `{place}["{dashed}"]`?'
        return self._suggestions.did_you_mean(name, known)

    def _need(self, wanted: Type, found: Type, operation: str, node: Node) -> None:
        if not may_be(found, wanted):
            self._mismatch(f"`{operation}` needs {_a(wanted)}, not {_a(found)}.", node.offset)

    def _name(self, node: Name) -> Type:
        if not node.root:
            for variable, type_ in reversed(self._variables):
                if variable == node.name:
                    return type_
        known = self._scope.get(node.name)
        if known is not None:
            return known
        hint = as_suffix(NAMES.get(node.name))
        if not hint:
            hint = self._hint(node.name, [*(variable for variable, _ in self._variables), *self._scope], "")
        self._unknown(f"There is no `{node.name}` here.{hint}", node.offset)
        return DYN

    def _field(self, operand: Type, field: str, node: Select | Has | Index) -> Type:
        if isinstance(operand, MapOf):
            return operand.value
        if isinstance(operand, RecordType):
            known = operand.fields.get(field)
            if known is None and not operand.open:
                place = path_text(node.operand)
                hint = self._hint(field, operand.fields, place)
                path = path_text(node) if not isinstance(node, Has) else f"{place}.{field}"
                self._unknown(f"`{path}`: there is no {operand.noun} `{field}` here.{hint}", node.offset)
            return known or DYN
        if "map" not in kinds(operand):
            place = path_text(node.operand)
            sentence = f"`{place}` is {_a(operand)} and has no field `{field}`.{for_field(field, place)}"
            self._mismatch(sentence, node.offset)
        return DYN

    def _index(self, node: Index) -> Type:
        operand, index = self.type_of(node.operand), self.type_of(node.index)
        if isinstance(node.index, Literal_) and type(node.index.value) is str and "list" not in kinds(operand):
            return self._field(operand, node.index.value, node)
        list_fits = may_be(operand, _LIST) and may_be(index, NUMBER)
        map_fits = may_be(operand, _MAP) and not kinds(index).isdisjoint(KEY)
        if not list_fits and not map_fits:
            self._mismatch(f"`[]` has no meaning for ({name_of(operand)}, {name_of(index)}).", node.offset)
        if isinstance(operand, ListOf):
            return operand.element
        return operand.value if isinstance(operand, MapOf) else DYN

    def _call(self, node: FunctionCall) -> Type:
        arguments = tuple(self.type_of(argument) for argument in children(node))
        try:
            function = calls.resolve(node, self._suggestions)
        except ExpressionError as error:
            self.problems.append(error)
            return DYN
        fitting = [
            overload.result_for(arguments)
            for overload in function.overloads
            if overload.takes(len(arguments))
            and all(may_be(argument, overload.parameter(place)) for place, argument in enumerate(arguments))
        ]
        if not fitting:
            shown = ", ".join(name_of(argument) for argument in arguments)
            self._mismatch(f"`{function.name}` has no meaning for ({shown}).", node.offset)
        elif function.name == "next":
            self._check_calendar(node)
        return common(fitting)

    def _check_calendar(self, node: FunctionCall) -> None:
        """Report a cron line or a zone that is written in the expression and does not exist."""
        for argument, read in zip(node.arguments, (parse_cron, zone_named), strict=False):
            if isinstance(argument, Literal_) and isinstance(argument.value, str):
                try:
                    read(argument.value)
                except ValueError as error:
                    self._mismatch(str(error), argument.offset)

    def _map(self, node: MapOfNodes) -> Type:
        keys = [self.type_of(key) for key, _ in node.entries]
        values = [self.type_of(value) for _, value in node.entries]
        for type_, (key, _) in zip(keys, node.entries, strict=True):
            if kinds(type_).isdisjoint(KEY - {"double"}):
                self._mismatch(f"The key of a map cannot be {_a(type_)}.", key.offset)
        constants = [key.value for key, _ in node.entries if isinstance(key, Literal_)]
        names = [value for value in constants if type(value) is str]
        if len(names) == len(values):
            return RecordType(dict(zip(names, values, strict=True)), open=False, noun="key", literal=True)
        return MapOf(common(values))

    def _chain(self, node: Chain) -> Type:
        result = self.type_of(node.first)
        for term in node.terms:
            operand = self.type_of(term.operand)
            combined = arithmetic(term.operator, result, operand)
            if combined is None:
                pair = f"({name_of(result)}, {name_of(operand)})"
                self._mismatch(f"`{term.operator}` has no meaning for {pair}.", term.offset)
            result = combined or DYN
        return result

    def _compare(self, node: Compare) -> Type:
        left, right = self.type_of(node.left), self.type_of(node.right)
        if node.relation in {"==", "!="}:
            return BOOL
        if node.relation == "in":
            fits = may_be(right, _LIST) or (may_be(right, _MAP) and not kinds(left).isdisjoint(KEY))
        else:
            fits = comparable(left, right)
        if not fits:
            self._mismatch(f"`{node.relation}` has no meaning for ({name_of(left)}, {name_of(right)}).", node.offset)
        return BOOL

    def _comprehension(self, node: Comprehension) -> Type:
        operand = self.type_of(node.operand)
        if not may_be(operand, _LIST) and not may_be(operand, _MAP):
            self._mismatch(f"`{node.quantifier}` needs a list or a map, not {_a(operand)}.", node.offset)
        element: Type = STRING if isinstance(operand, RecordType) else DYN
        if isinstance(operand, ListOf):
            element = operand.element
        self._variables.append((node.variable, element))
        if node.condition is not None:
            self._need(BOOL, self.type_of(node.condition), node.quantifier, node.condition)
        body = self.type_of(node.body)
        self._variables.pop()
        if node.quantifier == "map":
            return ListOf(body)
        self._need(BOOL, body, node.quantifier, node.body)
        return ListOf(element) if node.quantifier == "filter" else BOOL


def _a(type_: Type) -> str:
    return "an int" if type_ == INT else f"a {name_of(type_)}"


def _type_of_constant(node: Literal_) -> Type:
    value = node.value
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT
    return DOUBLE if isinstance(value, float) else STRING
