"""What an expression can name at a place, and expressions and templates that name nothing else.

A term is an expression with the kind of its value. `any` may stand where any other kind is wanted; `opaque` is a value of
some kind that is not told here, so it is only compared, given on or put into text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from hypothesis.strategies import DrawFn, SearchStrategy

Term = tuple[str, str]

# Names that a YAML reader or the expression language takes for something else.
AWKWARD = ("true", "null", "in", "y", "no", "e1", "Infinity", "x-ray")
_SELECTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch


class Place(NamedTuple):
    """The terms that exist at one place of a definition, and the names that are taken there."""

    terms: tuple[Term, ...] = ()
    ids: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    level: int = 0

    def of(self, *kinds: str) -> list[str]:
        return [text for text, kind in self.terms if kind in kinds]

    def plus(self, terms: Iterable[Term]) -> Place:
        return self._replace(terms=(*self.terms, *terms))


def selected(operand: str, name: str) -> str:
    """Write the field of a value, by index where its name could not be selected."""
    return f"{operand}.{name}" if _SELECTABLE(name) and name not in AWKWARD else f"{operand}['{name}']"


def root_terms(schema: object, variables: Iterable[str]) -> tuple[Term, ...]:
    """Return what every expression of a definition can name."""
    always = [
        ("execution.id", "text"),
        ("execution.resume_count", "number"),
        ("execution.user", "any"),
        ("trigger", "any"),
        ("trigger.body.kind", "any"),
        *((selected("vars", name), "any") for name in variables),
    ]
    return (*always, *_INPUT_TERMS.get(str(_title(schema)), (("input", "opaque"),)))


def _title(schema: object) -> object:
    return schema.get("title") if isinstance(schema, dict) else schema


_INPUT_TERMS: dict[str, tuple[Term, ...]] = {
    "open": (("input.total", "any"), ("input.lines", "any"), ("input.deep.er", "any")),
    "closed": (
        ("input.total", "number"),
        ("input.name", "text"),
        ("input.paid", "bool"),
        ("input.lines", "list"),
        ("input.more.note", "opaque"),
    ),
    "True": (("input", "any"), ("input.total", "any")),
}

INPUT_SCHEMAS: tuple[object, ...] = (
    {"title": "open", "type": "object", "required": ["total", "lines"]},
    {
        "title": "closed",
        "type": "object",
        "properties": {
            "total": {"type": "number", "minimum": 0},
            "name": {"type": "string", "pattern": "^[a-z]+$", "description": "ein Name: ☂ # not a comment"},
            "paid": {"type": "boolean"},
            "lines": {"type": "array", "items": {}},
            "more": {"$ref": "#/$defs/more"},
        },
        "additionalProperties": False,
        "$defs": {"more": {"type": "object", "properties": {"note": {"enum": ["a", 1, None]}}}},
    },
    True,
    False,
    {"$schema": "http://json-schema.org/draft-07/schema#", "type": ["object", "null"]},
)


def output_terms(node: Mapping[str, object], id_: str) -> list[Term]:
    """Return what can be read of a node once it has run."""
    output, error = selected("nodes", id_), selected("errors", id_)
    failure = [(f"{error}.code", "text"), (f"{error}.retryable", "bool"), (f"{error}.attempt", "number")]
    shape = _OUTPUTS.get(str(node["type"]))
    return [*(shape(node, output) if shape is not None else [(output, "any"), (f"{output}.deep", "any")]), *failure]


def _approval(_node: Mapping[str, object], output: str) -> list[Term]:
    return [(f"{output}.approved", "bool"), (f"{output}.decisions", "list"), (f"{output}.by", "any")]


def _signals(node: Mapping[str, object], output: str) -> list[Term]:
    signals = node.get("signals")
    if not isinstance(signals, list):
        return [(f"{output}.data", "any"), (f"{output}.key", "text")]
    return [(f"{selected(output, signal['alias'])}.data", "any") for signal in signals]


def _http(_node: Mapping[str, object], output: str) -> list[Term]:
    return [(f"{output}.status", "number"), (f"{output}.headers['x-id']", "text"), (f"{output}.body.id", "any")]


def _collected(node: Mapping[str, object], output: str) -> list[Term]:
    branches = node.get("branches")
    if not isinstance(branches, list):
        return [(output, "list"), (f"size({output})", "number"), (f"{output}[0]", "any")]
    return [(selected(output, branch["id"]), "any") for branch in branches]


def _opaque(_node: Mapping[str, object], output: str) -> list[Term]:
    return [(output, "opaque")]


_OUTPUTS: dict[str, Callable[[Mapping[str, object], str], list[Term]]] = {
    "approval": _approval,
    "form": _opaque,
    "delay": _opaque,
    "set": _opaque,
    "wait_signal": _signals,
    "http": _http,
    "loop": _collected,
    "parallel": _collected,
}

_WORDS = st.sampled_from(["", "gold", "it''s", "a } b", "5 $", "é ☂ 𝄞", "#no: comment", "- x", " y"]).map(
    lambda word: word.replace("''", "\\'")
)
_WHOLE = st.integers(-(2**40), 2**40)


@st.composite
def conditions(draw: DrawFn, place: Place, depth: int = 2) -> str:
    """Generate an expression that gives true or false."""
    if depth and draw(st.booleans()):
        inner = conditions(place, depth - 1)
        shape = draw(st.sampled_from(["({}) && ({})", "{} || {}", "!({})", "({}) ? {} : true"]))
        return shape.format(*(draw(inner) for _ in range(shape.count("{}"))))
    return draw(st.sampled_from(_simple_conditions(place)))


def _simple_conditions(place: Place) -> list[str]:
    compared = [f"{text} {relation}" for text in place.of("number", "any") for relation in ("> 10", "<= -2.5")]
    known = [f"{text} != 'x y'" for text, _ in place.terms]
    present = [f"has({text})" for text in place.of("any") if re.search(r"\.\w+$", text)]
    members = [f"{text} in ['a', \"b\"]" for text in place.of("text", "any")]
    each = [f"{text}.exists(e, e == 1)" for text in place.of("list")]
    return ["true", "1 < 2", *place.of("bool", "any"), *compared, *known, *present, *members, *each]


@st.composite
def expressions(draw: DrawFn, place: Place) -> str:
    """Generate an expression that gives anything."""
    match draw(st.integers(0, 5)):
        case 0:
            return draw(conditions(place))
        case 1:
            return f"'{draw(_WORDS)}' + string({draw(_WHOLE)})"
        case 2:
            return f"{{'a': [{draw(_WHOLE)}, null], 'b}}': {draw(conditions(place, 0))}}}"
        case 3:
            numbers = place.of("number", "any") or ["1"]
            return f"{draw(st.sampled_from(numbers))} * 2 + {draw(_WHOLE)}"
        case _:
            return draw(st.sampled_from([text for text, _ in place.terms] or ["null"]))


@st.composite
def lists(draw: DrawFn, place: Place) -> tuple[str, str]:
    """Generate an expression that gives a list, with the kind of its elements."""
    known = [(text, "any") for text in place.of("list", "any")]
    made = [(f"{text}.filter(e, e != 1)", "any") for text in place.of("list")]
    return draw(st.sampled_from([("[1, 2, 3]", "number"), ("['a', 1]", "opaque"), *known, *made]))


def plain_text(most: int = 12) -> SearchStrategy[str]:
    """Generate text without an expression: any characters that JSON can hold, and what YAML stumbles over."""
    free = st.text(st.characters(exclude_categories=("Cs",)), max_size=most)
    return st.one_of(_TRICKY, free).map(lambda text: text.replace("${", "$ {")[:most])


_TRICKY = st.sampled_from(
    ["", "yes", "~", "1.0", "0x1F", "1:30", "2026-01-01", " a ", "a: b", "a #b", "- a", "'", '"', "\\", "a\n\nb\n", "\t"]
    + ["|", "&a", "*a", "!t", "%", "@", "`", "[", "{", "}", "? k", "\n", " \n x", "\x85", "\u2028", "\ufeff", "5 $", "é"]
)


@st.composite
def templates(draw: DrawFn, place: Place) -> str:
    """Generate text in which expressions may stand."""
    match draw(st.integers(0, 4)):
        case 0:
            return f"${{{draw(expressions(place))}}}"
        case 1:
            return f"{draw(plain_text(6)).rstrip('$')} ${{ {draw(expressions(place))} }}${{{draw(expressions(place))}}}"
        case 2:
            return f"costs $${{{draw(plain_text(4))}"
        case _:
            return draw(plain_text())


_NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(-5, 5), st.floats(allow_nan=False, allow_infinity=False)
)
_KEYS = st.one_of(st.sampled_from(["a", "b c", "x-y", "true", "", "<<", "null", "label", "next"]), plain_text(5))


@st.composite
def values(draw: DrawFn, place: Place | None, depth: int = 2) -> object:
    """Generate JSON in whose strings expressions may stand, unless there is no place for them."""
    match draw(st.integers(0, 7 if depth else 4)):
        case 0:
            return draw(st.sampled_from([None, True, False, 0, 1, 1.0, -0.0, [], {}]))
        case 1:
            return draw(_NUMBERS)
        case 2 | 3 | 4:
            return draw(templates(place) if place is not None else plain_text())
        case 5:
            return [draw(values(place, depth - 1)) for _ in range(draw(st.integers(0, 3)))]
        case _:
            return draw(mappings(place, depth - 1))


@st.composite
def mappings(draw: DrawFn, place: Place | None, depth: int = 2) -> dict[str, object]:
    """Generate a mapping of such values."""
    keys = draw(st.lists(_KEYS, max_size=3, unique=True))
    return {key: draw(values(place, depth)) for key in keys}
