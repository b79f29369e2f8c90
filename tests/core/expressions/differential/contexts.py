"""Contexts for generated expressions: JSON of a known form whose fields may be missing, null or of a wrong type."""

from __future__ import annotations

from hypothesis import strategies as st

from .leaves import ALPHABET

_text = st.text(ALPHABET, max_size=6)
_int = st.one_of(st.integers(-5, 10), st.sampled_from((2**31, 2**53, 2**63 - 1, -(2**63))))
_double = st.sampled_from((0.0, 1.0, 1.5, -2.25, 0.1, 1e300, -1e-300, 123456.75))
_scalar = st.one_of(st.none(), st.booleans(), _int, _double, _text)
_created = st.sampled_from(("2024-02-29T23:59:59Z", "1999-12-31T00:00:00.125+01:00", "yesterday"))
_wait = st.sampled_from(("1h", "-250ms", "1h30m0.5s", "soon"))
# Values of a wrong type: never a number, because arithmetic on two types of number is our one
# deliberate difference; never a boolean, because Google's runtime converts it where its own checker forbids that.
_STRAYS: tuple[object, ...] = (None, "text", ["a"], {"a": "x"})

_address = {"city": _text, "a": _scalar}
_person = {"first": _text, "age": _int, "member": st.booleans(), "a": _scalar, "b": st.fixed_dictionaries({"a": _int})}
_entry = {"sku": _text, "qty": _int, "price": _double}
_input = {
    "count": _int,
    "price": _double,
    "name": _text,
    "note": _text,
    "flag": st.booleans(),
    "nothing": st.none(),
    "numbers": st.lists(_int, max_size=4),
    "amounts": st.lists(_double, max_size=3),
    "tags": st.lists(_text, max_size=4),
    "mixed": st.lists(_scalar, max_size=4),
    "created": _created,
    "wait": _wait,
}


@st.composite
def contexts(draw: st.DrawFn) -> dict[str, object]:
    """Draw a context: whole most of the time, with up to three fields missing or replaced."""
    data = draw(st.fixed_dictionaries(_input))
    person = draw(st.fixed_dictionaries(_person))
    item = draw(st.fixed_dictionaries(_entry))
    data |= {"person": person | {"address": draw(st.fixed_dictionaries(_address))}, "items": [item], "empty": {}}
    copy = dict(item)
    variables = draw(st.fixed_dictionaries({"limit": st.integers(0, 4), "rate": _double, "ready": st.booleans()}))
    context: dict[str, object] = {"input": data, "vars": variables, "item": copy}
    for _ in range(draw(st.sampled_from((0, 0, 0, 1, 2, 3)))):
        _damage(draw, draw(st.sampled_from((data, person, variables, copy))))
    return context


def _damage(draw: st.DrawFn, fields: dict[str, object]) -> None:
    if not fields:
        return
    name = draw(st.sampled_from(sorted(fields)))
    if draw(st.booleans()):
        del fields[name]
    else:
        fields[name] = draw(st.sampled_from(_STRAYS))
