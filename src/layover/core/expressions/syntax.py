"""The tree of an expression.

Every node is frozen and knows the offset it came from. Chains of the same precedence are one wide node instead of a
deep one (`a + b + c`, `a && b && c`), so the height of a tree is its nesting as a person sees it, and the passes
over it may recurse.
"""

from __future__ import annotations

from typing import Literal, assert_never

import msgspec

Relation = Literal["==", "!=", "<", "<=", ">", ">=", "in"]
Connective = Literal["&&", "||"]
Arithmetic = Literal["+", "-", "*", "/", "%"]
Quantifier = Literal["all", "exists", "exists_one", "filter", "map"]
Constant = None | bool | int | float | str


class Literal_(msgspec.Struct, frozen=True, tag="literal"):  # noqa: N801 - typing has taken the plain name
    """A constant."""

    offset: int
    value: Constant


class Name(msgspec.Struct, frozen=True, tag="name"):
    """A root name or a variable of a comprehension; `.name` is a root name whatever the comprehensions around it."""

    offset: int
    name: str
    root: bool = False


class Select(msgspec.Struct, frozen=True, tag="select"):
    """`operand.field`."""

    offset: int
    operand: Node
    field: str


class Has(msgspec.Struct, frozen=True, tag="has"):
    """`has(operand.field)`."""

    offset: int
    operand: Node
    field: str


class Index(msgspec.Struct, frozen=True, tag="index"):
    """`operand[index]`."""

    offset: int
    operand: Node
    index: Node


class FunctionCall(msgspec.Struct, frozen=True, tag="call"):
    """`function(arguments)` or `target.function(arguments)`."""

    offset: int
    function: str
    target: Node | None
    arguments: tuple[Node, ...]


class Default(msgspec.Struct, frozen=True, tag="default"):
    """`default(value, fallback)`."""

    offset: int
    value: Node
    fallback: Node


class ListOfNodes(msgspec.Struct, frozen=True, tag="list"):
    """`[a, b]`."""

    offset: int
    items: tuple[Node, ...]


class MapOfNodes(msgspec.Struct, frozen=True, tag="map"):
    """`{key: value}`."""

    offset: int
    entries: tuple[tuple[Node, Node], ...]


class Not(msgspec.Struct, frozen=True, tag="not"):
    """`!operand`."""

    offset: int
    operand: Node


class Negate(msgspec.Struct, frozen=True, tag="negate"):
    """`-operand`."""

    offset: int
    operand: Node


class Term(msgspec.Struct, frozen=True):
    """One further operand of a chain of arithmetic, with the operator before it."""

    offset: int
    operator: Arithmetic
    operand: Node


class Chain(msgspec.Struct, frozen=True, tag="chain"):
    """`first + a - b` or `first * a / b`, evaluated from the left."""

    offset: int
    first: Node
    terms: tuple[Term, ...]


class Compare(msgspec.Struct, frozen=True, tag="compare"):
    """`left < right` and its like."""

    offset: int
    relation: Relation
    left: Node
    right: Node


class Logic(msgspec.Struct, frozen=True, tag="logic"):
    """`a && b && c` or `a || b || c`."""

    offset: int
    connective: Connective
    operands: tuple[Node, ...]


class Conditional(msgspec.Struct, frozen=True, tag="conditional"):
    """`condition ? then : otherwise`."""

    offset: int
    condition: Node
    then: Node
    otherwise: Node


class Comprehension(msgspec.Struct, frozen=True, tag="comprehension"):
    """`operand.all(variable, body)` and its like; only `map` may have a condition besides its body."""

    offset: int
    quantifier: Quantifier
    operand: Node
    variable: str
    condition: Node | None
    body: Node


Node = (
    Literal_
    | Name
    | Select
    | Has
    | Index
    | FunctionCall
    | Default
    | ListOfNodes
    | MapOfNodes
    | Not
    | Negate
    | Chain
    | Compare
    | Logic
    | Conditional
    | Comprehension
)


def children(node: Node) -> tuple[Node, ...]:  # noqa: C901, PLR0912 - one case per kind of node
    """Return the nodes directly below one."""
    match node:
        case Literal_() | Name():
            return ()
        case Select() | Has() | Not() | Negate():
            return (node.operand,)
        case Index():
            return node.operand, node.index
        case FunctionCall():
            return node.arguments if node.target is None else (node.target, *node.arguments)
        case Default():
            return node.value, node.fallback
        case ListOfNodes():
            return node.items
        case MapOfNodes():
            return tuple([part for entry in node.entries for part in entry])
        case Chain():
            return node.first, *[term.operand for term in node.terms]
        case Compare():
            return node.left, node.right
        case Logic():
            return node.operands
        case Conditional():
            return node.condition, node.then, node.otherwise
        case Comprehension():
            condition = () if node.condition is None else (node.condition,)
            return node.operand, *condition, node.body
        case _:
            assert_never(node)


class Survey(msgspec.Struct, frozen=True):
    """The result of one walk over a tree: its height, and the root names it reads."""

    height: int
    roots: frozenset[str]


_UNBOUND: frozenset[str] = frozenset()


def survey(root: Node) -> Survey:
    """Walk over a tree without recursion: this finds out whether recursion is safe."""
    found: set[str] = set()
    highest = 0
    level: list[tuple[Node, frozenset[str]]] = [(root, _UNBOUND)]
    while level:
        highest += 1
        below: list[tuple[Node, frozenset[str]]] = []
        for node, bound in level:
            if isinstance(node, Name):
                if node.root or node.name not in bound:
                    found.add(node.name)
            elif isinstance(node, Comprehension):
                inner = bound | {node.variable}
                below.append((node.operand, bound))
                below += [(part, inner) for part in (node.condition, node.body) if part is not None]
            else:
                below += [(child, bound) for child in children(node)]
        level = below
    return Survey(highest, frozenset(found))


def path_text(node: Node) -> str:
    """Return a path as the author wrote it, or an ellipsis for anything that is not a path."""
    parts: list[str] = []
    current = node
    while True:
        match current:
            case Select() | Has():
                parts.append(f".{current.field}")
                current = current.operand
            case Index(index=Literal_(value=str() as key)):
                parts.append(f'["{key}"]')
                current = current.operand
            case Index(index=Literal_(value=int() as position)):
                parts.append(f"[{position}]")
                current = current.operand
            case Index(index=inner):
                parts.append(f"[{path_text(inner)}]")
                current = current.operand
            case Name():
                return current.name + "".join(reversed(parts))
            case _:
                return "…" + "".join(reversed(parts))
