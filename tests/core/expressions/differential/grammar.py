"""Grow expressions of a wanted kind from the table of shapes; now and then with a term of another kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from .kinds import BINDING, Kind, Shape, Term
from .leaves import LEAVES
from .shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    Scope = Mapping[str, Kind]

LEAF = "leaf"
STRAY = "stray"
VARIABLE = "variable"
MAX_DEPTH = 3
FRESH_NAMES = ("x", "y", "z", "w")

_CONCRETE = (
    Kind.INT, Kind.DOUBLE, Kind.STRING, Kind.BOOL, Kind.NULL, Kind.INTS, Kind.STRINGS, Kind.MIXED, Kind.MAP,
    Kind.TIMESTAMP, Kind.DURATION,
)  # fmt: skip
_UNIONS = {Kind.NUMBER: (Kind.INT, Kind.DOUBLE), Kind.ANY: _CONCRETE, Kind.INDEX: (Kind.INT,), Kind.SHORT: ()}
# Numbers and booleans are never of a wrong kind; contexts.py says why.
_WRONG = tuple(kind for kind in _CONCRETE if kind not in {Kind.INT, Kind.DOUBLE, Kind.BOOL})
_LISTS = (Kind.INTS, Kind.DOUBLES, Kind.STRINGS, Kind.MIXED)
_MAY_STRAY = frozenset(_CONCRETE) | {
    Kind.NUMBER, Kind.INDEX, Kind.SHORT, Kind.EXACT, Kind.PATTERN, Kind.ZONE, Kind.TIMESTAMP_TEXT, Kind.DURATION_TEXT,
}  # fmt: skip


def _menu(kind: Kind) -> tuple[Shape | str, ...]:
    """Return the choices for a kind: leaves first, because shrinking goes there."""
    wanted = {kind, *_UNIONS.get(kind, ())}
    shapes = [shape for shape in SHAPES if shape.gives in wanted]
    leaves = [LEAF] * max(len(shapes), 1)
    strays = [STRAY] * (max(len(shapes) // 12, 1) if kind in _MAY_STRAY else 0)
    return (*leaves, *shapes, *strays)


_MENUS = {kind: _menu(kind) for kind in Kind}
_LEAF_MENUS = {kind: (*[LEAF] * 24, *[STRAY] * (kind in _MAY_STRAY)) for kind in Kind}


def grow(draw: st.DrawFn, kind: Kind, depth: int, scope: Scope) -> Term:
    """Draw an expression of the wanted kind."""
    accepted = {kind, *_UNIONS.get(kind, ())}
    variables = [name for name, bound in scope.items() if bound in accepted]
    menu = (_MENUS if depth > 0 else _LEAF_MENUS)[kind]
    choice = draw(st.sampled_from(menu + (VARIABLE,) * (len(menu) // 3) if variables else menu))
    if isinstance(choice, Shape):
        return build(draw, choice, depth - 1, scope)
    if choice == VARIABLE:
        return Term(draw(st.sampled_from(variables)))
    return draw(LEAVES[_wrong_for(draw, kind) if choice == STRAY else kind])


def _wrong_for(draw: st.DrawFn, kind: Kind) -> Kind:
    """Draw another kind; never a map for a list, because Google iterates it in an order of its own."""
    return draw(
        st.sampled_from([wrong for wrong in _WRONG if wrong != kind and (kind not in _LISTS or wrong != Kind.MAP)])
    )


def build(draw: st.DrawFn, shape: Shape, depth: int, scope: Scope, *, astray: bool = False) -> Term:
    """Draw the parts of a shape and put them together; `astray` replaces one that may be of the wrong kind."""
    name = FRESH_NAMES[len(scope)]
    body_scope = scope if shape.binds is None else {**scope, name: shape.binds}
    places = [place for place, kind in enumerate(shape.takes) if kind in _MAY_STRAY] if astray else []
    lost = draw(st.sampled_from(places)) if places else None
    parts: list[Term] = []
    alone: list[str] = []
    for place, kind in enumerate(shape.takes):
        in_body = shape.binds is not None and place > 0
        part = (
            draw(LEAVES[_wrong_for(draw, kind)])
            if place == lost
            else grow(draw, kind, depth, body_scope if in_body else scope)
        )
        parts.append(part)
        if not in_body and kind is not Kind.PATH:
            alone.append(part.source)
    source = shape.template.format(*parts, v=name)
    return Term(source, BINDING[shape.level], tuple(alone))


@st.composite
def rooted_in(draw: st.DrawFn, shapes: tuple[Shape, ...], *, astray: bool = False) -> Term:
    """Draw an expression whose root is one of the shapes."""
    return build(draw, draw(st.sampled_from(shapes)), draw(st.integers(0, MAX_DEPTH - 1)), {}, astray=astray)
