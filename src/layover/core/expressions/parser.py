"""Tokens to a tree, by precedence climbing.

The grammar is CEL's. Invariant: the work is bounded before it is done. The text has a length limit, each node is
counted as it is made, and each level of nesting is counted as it is entered, so no input makes the parser recurse
beyond `Limits.depth`. Chains that grow to the left without recursion (`a.b.c`, `a == b == c`) are caught afterwards by
the height of the tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec

from layover.core.expressions import hints, lexer
from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.hints import as_suffix
from layover.core.expressions.limits import DEFAULT, ExpressionLimits
from layover.core.expressions.macros import RESERVED, expand
from layover.core.expressions.syntax import (
    Arithmetic,
    Chain,
    Compare,
    Conditional,
    FunctionCall,
    Index,
    ListOfNodes,
    Literal_,
    Logic,
    MapOfNodes,
    Name,
    Negate,
    Node,
    Not,
    Relation,
    Select,
    Term,
    survey,
)

if TYPE_CHECKING:
    from layover.core.expressions.lexer import Token

_OR, _AND, _RELATION, _SUM, _PRODUCT = 1, 2, 3, 4, 5
_PRECEDENCE = {
    "||": _OR,
    "&&": _AND,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), _RELATION),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "%"), _PRODUCT),
}
_ARITHMETIC: dict[str, Arithmetic] = {"+": "+", "-": "-", "*": "*", "/": "/", "%": "%"}
_RELATIONS: dict[str, Relation] = {"==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "in": "in"}
_CONSTANTS = {"true": True, "false": False, "null": None}


class Expression(msgspec.Struct, frozen=True):
    """A parsed expression: its text, its tree, the root names it reads, and the work that parsing took."""

    source: str
    ast: Node
    roots: frozenset[str]
    steps: int
    nodes: int
    limits: ExpressionLimits


def parse(source: str, limits: ExpressionLimits = DEFAULT) -> Expression:
    """Parse an expression, or raise an ExpressionError that says where it goes wrong."""
    if len(source) > limits.source:
        raise ExpressionError(
            f"The expression has {len(source)} characters; at most {limits.source} are allowed.",
            code="expression_too_large",
        )
    return _parse(source, lexer.tokenize(source), limits)


def parse_embedded(text: str, start: int, limits: ExpressionLimits) -> tuple[Expression, int]:
    """Parse the expression that begins inside a text and ends at its closing brace; also return that brace's place."""
    try:
        tokens = lexer.tokenize(text, start, start + limits.source + 1, embedded=True)
    except ExpressionError as error:
        if len(text) - start > limits.source and error.offset == start:
            raise ExpressionError(
                f"No `}}` closes this `${{` within {limits.source} characters.",
                code="expression_too_large",
                offset=start,
            ) from error
        raise
    end = tokens[-1][2]
    try:
        shifted = [(kind, value, offset - start) for kind, value, offset in tokens]
        return _parse(text[start:end], shifted, limits), end
    except ExpressionError as error:
        if error.offset is not None:
            error.offset += start
        raise


def _parse(source: str, tokens: list[Token], limits: ExpressionLimits) -> Expression:
    parser = _Parser(tokens, limits)
    tree = parser.whole()
    found = survey(tree)
    if found.height > limits.depth:
        raise _too_deep(limits, tree.offset)
    return Expression(source, tree, found.roots, len(tokens) + parser.nodes, parser.nodes, limits)


def _too_deep(limits: ExpressionLimits, offset: int) -> ExpressionError:
    return ExpressionError(
        f"The expression nests deeper than {limits.depth} levels.", code="expression_too_large", offset=offset
    )


def _syntax(message: str, offset: int) -> ExpressionError:
    return ExpressionError(message, code="expression_syntax", offset=offset)


class _Parser:
    """One pass over the tokens; `_kind` is always the kind of the token in front."""

    def __init__(self, tokens: list[Token], limits: ExpressionLimits) -> None:
        self._tokens = [*tokens, tokens[-1]]  # so that there is always a token in front
        self._limits = limits
        self._at = 0
        self._kind = tokens[0][0]
        self._depth = 0
        self.nodes = 0

    def whole(self) -> Node:
        tree = self._expression()
        if self._kind != lexer.END:
            raise self._unexpected()
        return tree

    @property
    def _offset(self) -> int:
        return self._tokens[self._at][2]

    def _advance(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        self._kind = self._tokens[self._at][0]
        return token

    def _expect(self, kind: str) -> None:
        if self._kind != kind:
            raise self._unexpected(f"`{kind}` is missing")
        self._advance()

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > self._limits.depth:
            raise _too_deep(self._limits, self._offset)

    def _count(self) -> None:
        self.nodes += 1
        if self.nodes > self._limits.nodes:
            raise ExpressionError(
                f"The expression has more than {self._limits.nodes} parts.",
                code="expression_too_large",
                offset=self._offset,
            )

    def _unexpected(self, missing: str | None = None) -> ExpressionError:
        kind, value, offset = self._tokens[self._at]
        if kind == lexer.END:
            return _syntax(f"The expression ends too early{f': {missing}' if missing else ''}.", offset)
        shown = str(value)[:40]
        hint = as_suffix(self._hint(kind, str(value)))
        return _syntax(f"`{shown}` is not expected here{f': {missing} before it' if missing else ''}.{hint}", offset)

    def _hint(self, kind: str, value: str) -> str | None:
        """Return what to write instead of an unexpected token."""
        before, shown, _ = self._tokens[self._at - 1] if self._at else ("", None, 0)
        if before == lexer.IDENT and shown in hints.PREFIXES:
            return hints.PREFIXES[str(shown)]
        if kind == lexer.IDENT:
            return hints.OPERATORS.get(value)
        if kind == before == "?":
            return "There is no `??`: write `default(value, fallback)`."
        if kind == ">" and before == "<":
            return "Write `!=`."
        if kind == "}" and self._tokens[0][0] == self._tokens[1][0] == "{":
            return "This is an expression already: leave out `{{` and `}}`."
        if kind == "}" and self._tokens[0][0] == "{":
            return "Write `${ … }`, with one brace; a map is written `{'key': value}`."
        return None

    def _expression(self) -> Node:
        self._enter()
        condition = self._operation(_OR)
        if self._kind == "?":
            self._count()
            offset = self._advance()[2]
            chained = self._kind == "." and self._offset == offset + 1
            then = self._operation(_OR)
            if chained and self._kind != ":":
                raise _syntax("There is no `?.`: write `default(a.b, fallback)` or `has(a.b)`.", offset)
            self._expect(":")
            condition = Conditional(offset, condition, then, self._expression())
        self._depth -= 1
        return condition

    def _operation(self, lowest: int) -> Node:
        if lowest > _OR:
            self._enter()
        left = self._signed()
        while (precedence := _PRECEDENCE.get(self._kind, 0)) >= lowest:
            if precedence <= _AND:
                left = self._logic(left, precedence)
            elif precedence == _RELATION:
                self._count()
                relation, _, offset = self._advance()
                left = Compare(offset, _RELATIONS[relation], left, self._operation(_SUM))
            else:
                left = self._chain(left, precedence)
        if lowest > _OR:
            self._depth -= 1
        return left

    def _logic(self, first: Node, precedence: int) -> Node:
        connective = self._kind
        offset = self._offset
        operands = [first]
        while self._kind == connective:
            self._count()
            self._advance()
            operands.append(self._operation(precedence + 1))
        return Logic(offset, "&&" if connective == "&&" else "||", tuple(operands))

    def _chain(self, first: Node, precedence: int) -> Node:
        offset = self._offset
        terms: list[Term] = []
        while _PRECEDENCE.get(self._kind) == precedence:
            self._count()
            operator, _, at = self._advance()
            operand = self._operation(precedence + 1) if precedence < _PRODUCT else self._signed()
            terms.append(Term(at, _ARITHMETIC[operator], operand))
        return Chain(offset, first, tuple(terms))

    def _signed(self) -> Node:
        """`!` and `-` repeat freely: an even number of them cancels out, as CEL has it."""
        sign = self._kind
        if sign not in {"!", "-"}:
            return self._member(self._primary())
        offset = self._offset
        odd = False
        while self._kind == sign:
            self._advance()
            odd = not odd
        if odd and sign == "-" and self._kind in {lexer.INT, lexer.DOUBLE}:
            return self._member(self._number(negative=True))
        operand = self._member(self._primary())
        if not odd:
            return operand
        self._count()
        return Not(offset, operand) if sign == "!" else Negate(offset, operand)

    def _member(self, operand: Node) -> Node:
        while True:
            kind = self._kind
            if kind == ".":
                operand = self._select(operand)
            elif kind == "[":
                offset = self._advance()[2]
                if self._kind == "?":
                    raise _syntax("Optional access (`[?…]`) is not supported: use `default(…)`.", offset)
                self._count()
                index = self._expression()
                self._expect("]")
                operand = Index(offset, operand, index)
            elif kind == "{" and isinstance(operand, Name | Select):
                raise _syntax("Messages (`Type{…}`) are not supported: write a map, `{'key': value}`.", self._offset)
            else:
                return operand

    def _select(self, operand: Node) -> Node:
        self._count()
        dot = self._advance()[2]
        kind, value, offset = self._tokens[self._at]
        if kind == "?":
            raise _syntax("Optional access (`.?`) is not supported: use `default(…)`.", offset)
        if kind not in {lexer.IDENT, lexer.FIELD}:
            raise self._unexpected("a name is missing")
        self._advance()
        name = str(value)
        if self._kind == "(" and kind == lexer.IDENT:
            return expand(FunctionCall(offset, name, operand, self._arguments()))
        return Select(dot, operand, name)

    def _arguments(self) -> tuple[Node, ...]:
        self._expect("(")
        arguments: list[Node] = []
        while self._kind != ")":
            arguments.append(self._expression())
            if self._kind != ",":
                break
            self._advance()
            if self._kind == ")":
                raise self._unexpected("an argument is missing")
        self._expect(")")
        return tuple(arguments)

    def _primary(self) -> Node:
        kind, value, offset = self._tokens[self._at]
        self._count()
        if kind == lexer.IDENT:
            return self._name(root=False)
        if kind in {lexer.INT, lexer.DOUBLE}:
            return self._number(negative=False)
        if kind == lexer.STRING:
            self._advance()
            return Literal_(offset, value)
        if kind in _CONSTANTS:
            self._advance()
            return Literal_(offset, _CONSTANTS[kind])
        if kind == "(":
            self._advance()
            inner = self._expression()
            self._expect(")")
            return inner
        if kind == "[":
            return self._list()
        if kind == "{":
            return self._map()
        if kind == "." and self._tokens[self._at + 1][0] == lexer.IDENT:
            self._advance()
            return self._name(root=True)
        raise self._unexpected()

    def _name(self, *, root: bool) -> Node:
        _, value, offset = self._advance()
        name = str(value)
        if name in RESERVED:
            raise _syntax(f"`{name}` is a reserved word and cannot be a name.", offset)
        if self._kind == "(":
            return expand(FunctionCall(offset, name, None, self._arguments()))
        return Name(offset, name, root)

    def _number(self, *, negative: bool) -> Node:
        kind, value, offset = self._advance()
        if kind == lexer.INT:
            return Literal_(offset, lexer.integer(str(value), offset, negative=negative))
        number = cast("float", value)
        return Literal_(offset, -number if negative else number)

    def _list(self) -> Node:
        offset = self._advance()[2]
        items: list[Node] = []
        while self._kind != "]":
            if self._kind == "?":
                raise _syntax("Optional elements (`[?…]`) are not supported.", self._offset)
            if self._kind != "," or items:
                items.append(self._expression())
            if self._kind != ",":
                break
            self._advance()
        self._expect("]")
        return ListOfNodes(offset, tuple(items))

    def _map(self) -> Node:
        offset = self._advance()[2]
        entries: list[tuple[Node, Node]] = []
        while self._kind != "}":
            if self._kind == "?":
                raise _syntax("Optional entries (`{?…}`) are not supported.", self._offset)
            if self._kind != "," or entries:
                key = self._expression()
                self._expect(":")
                entries.append((key, self._expression()))
            if self._kind != ",":
                break
            self._advance()
        self._expect("}")
        return MapOfNodes(offset, tuple(entries))
