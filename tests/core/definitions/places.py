"""The names that an expression can use at a position, and expressions and templates that use only those.

A term is an expression with the kind of its value. `any` is allowed where any other kind is wanted; `opaque` is a value
of an unknown kind, so it is only compared, passed on or put into text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .dice import Dice

Term = tuple[str, str]

# Names that a YAML reader or the expression language takes for something else.
AWKWARD = ("true", "null", "in", "y", "no", "e1", "Infinity", "x-ray")
_SELECTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch


class Place(NamedTuple):
    """The terms at one position of a definition, the ids in use there, and its depth."""

    terms: tuple[Term, ...] = ()
    ids: frozenset[str] = frozenset()
    level: int = 0

    def of(self, *kinds: str) -> list[str]:
        return [text for text, kind in self.terms if kind in kinds]

    def plus(self, *terms: Term) -> Place:
        """Return the position with more terms; a repeated name has only its new meaning."""
        new = {text for text, _ in terms}
        return self._replace(terms=(*(term for term in self.terms if term[0] not in new), *terms))

    def after(self, past: Mapping[str, Mapping[str, object]]) -> Place:
        """Return the position after some nodes."""
        return self.plus(*(term for id_, node in past.items() for term in output_terms(node, id_)))


def selected(operand: str, name: str) -> str:
    """Write the field of a value, by index if its name is not an identifier."""
    return f"{operand}.{name}" if _SELECTABLE(name) and name not in AWKWARD else f"{operand}['{name}']"


def root_terms(schema: object, variables: Iterable[str]) -> tuple[Term, ...]:
    """Return the terms of every expression of a definition."""
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
    """Return the terms of a node that has run."""
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
    "send": _opaque,
    "loop": _collected,
    "parallel": _collected,
}

_WORDS = ("", "gold", "it\\'s", "a } b", "5 $", "é ☂ 𝄞", "#no: comment", "- x", " y")
_KEYS = ("a", "b c", "x-y", "true", "", "<<", "null", "label", "next")
_ODD_VALUES = (None, True, False, 0, 1, 1.0, -0.0, 2**63 - 1, -(2**63), 5e-324, 1e308)


def condition(dice: Dice, place: Place, depth: int = 2) -> str:
    """Return an expression that gives true or false."""
    if depth and dice.chance():
        shape = dice.pick(("({}) && ({})", "{} || {}", "!({})", "({}) ? ({}) : true"))
        return shape.format(*(condition(dice, place, depth - 1) for _ in range(shape.count("{}"))))
    return dice.pick(_simple_conditions(place))


def _simple_conditions(place: Place) -> list[str]:
    compared = [f"{text} {relation}" for text in place.of("number", "any") for relation in ("> 10", "<= -2.5")]
    known = [f"{text} != 'x y'" for text, _ in place.terms]
    present = [f"has({text})" for text in place.of("any") if re.search(r"\.\w+$", text)]
    members = [f"{text} in ['a', \"b\"]" for text in place.of("text", "any")]
    each = [f"{text}.exists(e, e == 1)" for text in place.of("list")]
    return ["true", "1 < 2", *place.of("bool", "any"), *compared, *known, *present, *members, *each]


def expression(dice: Dice, place: Place) -> str:
    """Return an expression that gives anything."""
    match dice.integer(0, 5):
        case 0:
            return condition(dice, place)
        case 1:
            return f"'{dice.pick(_WORDS)}' + string({dice.integer(-(2**40), 2**40)})"
        case 2:
            return f"{{'a': [{dice.integer(-9, 9)}, null], 'b}}': {condition(dice, place, 0)}}}"
        case 3:
            return f"{dice.pick(place.of('number', 'any') or ['1'])} * 2 + {dice.integer(0, 9)}"
        case _:
            return dice.pick([text for text, _ in place.terms] or ["null"])


def whole(dice: Dice, place: Place) -> str:
    """Return a template that gives a value of any kind."""
    return f"${{{expression(dice, place)}}}"


def some_list(dice: Dice, place: Place) -> tuple[str, str]:
    """Return an expression that gives a list, with the kind of its elements."""
    known = [(text, "any") for text in place.of("list", "any")]
    made = [(f"{text}.filter(e, e != 1)", "any") for text in place.of("list")]
    return dice.pick([("[1, 2, 3]", "number"), ("['a', 1]", "opaque"), *known, *made])


def template(dice: Dice, place: Place) -> str:
    """Return text that may contain expressions."""
    match dice.integer(0, 4):
        case 0 | 1:
            return dice.text()
        case 2:
            return whole(dice, place)
        case 3:
            return f"{dice.text(6)} ${{ {expression(dice, place)} }}{whole(dice, place)}"
        case _:
            return f"costs $${{{dice.text(4)}"


def value(dice: Dice, place: Place | None, depth: int = 2) -> object:
    """Return JSON whose strings may contain expressions, unless there is no position for them."""
    match dice.integer(0, 7 if depth else 4):
        case 0:
            return dice.pick(_ODD_VALUES)
        case 1:
            return dice.float() if dice.chance() else dice.integer(-(2**63), 2**63 - 1)
        case 2 | 3 | 4:
            return template(dice, place) if place is not None else dice.text()
        case 5:
            return [value(dice, place, depth - 1) for _ in range(dice.integer(0, 3))]
        case _:
            return mapping(dice, place, depth - 1)


def mapping(dice: Dice, place: Place | None, depth: int = 2) -> dict[str, object]:
    """Return a mapping of such values."""
    keys = [dice.pick(_KEYS) if dice.chance() else dice.text(5) for _ in range(dice.integer(0, 3))]
    return {key: value(dice, place, depth) for key in keys}
