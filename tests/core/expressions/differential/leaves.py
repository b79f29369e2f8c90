"""The leaves of generated expressions: literals in every spelling, and paths into the context."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from .kinds import BINDING, Kind, Term

_UNARY = BINDING["unary"]

ALPHABET = "aabbcABC ,.%_-é😀ß𝔘\u0130\n\t\r\"'\\`07\u00a0\u2003"


def _literal(text: str) -> Term:
    return Term(text, _UNARY) if text.startswith("-") else Term(text)


def _terms(*sources: str) -> st.SearchStrategy[Term]:
    return st.sampled_from([_literal(source) for source in sources])


# --- numbers

_INT_EDGES = (2**31 - 1, -(2**31), 2**53, -(2**53), 2**63 - 1, -(2**63), 2**63 - 2, 3037000500, 10**12)
_ints = st.one_of(
    st.integers(-4, 12).map(lambda number: _literal(str(number))),
    st.sampled_from(_INT_EDGES).map(lambda number: _literal(str(number))),
    _terms("0x1F", "-0xff", "0x7fffffffffffffff", "-0x8000000000000000", "007"),
)
_doubles = _terms(
    "0.0", "-0.0", "1.0", "1.5", "-2.25", "0.1", "3.0", "1e3", "1E+3", "2.5e-3", ".5", "1e308", "-1e308", "5e-324",
    "1e15", "123456.75", "9.0e18", "-9.0e18", "1e19",
)  # fmt: skip
_short_doubles = _terms(
    "0.0", "-0.0", "1.0", "1.5", "-2.25", "0.1", "100.0", "123456.0", "1e6", "1e20", "1e-5", "0.0001"
)

# --- text


@st.composite
def _strings(draw: st.DrawFn) -> Term:
    text = draw(st.text(ALPHABET, max_size=6))
    return Term(
        spell_text(text, draw(st.sampled_from(("double", "single", "triple", "escaped", "wide", "octal", "raw"))))
    )


def spell_text(text: str, style: str) -> str:
    """Write text as a literal in one of CEL's spellings."""
    plain = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    match style:
        case "single":
            return "'" + plain.replace("'", "\\'") + "'"
        case "triple":
            return '"""' + text.replace("\\", "\\\\").replace("\r", "\\r").replace('"', '\\"') + '"""'
        case "escaped":
            return (
                json.dumps(text, ensure_ascii=True)
                if max(text, default="") < "\U00010000"
                else spell_text(text, "wide")
            )
        case "wide":
            return "'" + "".join(f"\\U{ord(letter):08x}" for letter in text) + "'"
        case "octal":
            return (
                '"'
                + "".join(
                    f"\\{ord(c):03o}" if ord(c) < 128 else f"\\X{ord(c):02X}" if ord(c) < 256 else c for c in text
                )
                + '"'
            )
        case "raw" if not set(text) & set('"\r\n\\'):
            return 'r"' + text + '"'
    return '"' + plain.replace('"', '\\"') + '"'


def _texts(*texts: str) -> st.SearchStrategy[Term]:
    return st.sampled_from([Term(spell_text(text, "single")) for text in texts])


_int_texts = _texts(
    "0",
    "12",
    "-7",
    "+3",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "",
    "1.5",
    "x",
    "1e3",
    "0x1F",
)
_double_texts = _texts("0", "-1.5", "1e3", "2.5E-3", "12", "9007199254740993", "", "x", "1,5", "1.5.2", "-0.0")
_bool_texts = _texts("true", "false", "True", "FALSE", "t", "f", "1", "0", "yes", "", "tRUE", "2")
_timestamp_texts = _texts(
    "2020-02-29T12:34:56Z",
    "1969-12-31T23:59:59.5Z",
    "2024-12-31T23:30:00.123456Z",
    "2024-03-31T00:59:59.999999999Z",
    "2024-07-01T00:00:00+05:30",
    "2024-07-01T00:00:00-08:00",
    "2000-01-01T00:00:00.000000001Z",
    "2021-02-29T00:00:00Z",
    "2020-13-01T00:00:00Z",
    "2020-01-01T25:00:00Z",
    "2020-01-01",
    "2020-01-01 00:00:00Z",
    "2020-01-01T00:00:00",
    "x",
    "",
)
_duration_texts = _texts(
    "0s", "1s", "90m", "1h30m", "-1.5s", "1.5h", "250ms", "3us", "7ns", "1h1m1s1ms1us1ns", "-36h", "1000000h", "+5s",
    ".5s", "1", "", "1d", "s", "1s ", "x", "1h-1m", "99999999h",
)  # fmt: skip
_timestamps = _terms(
    "timestamp('2020-02-29T12:34:56Z')",
    "timestamp('2024-12-31T23:30:00.123456789Z')",
    "timestamp('2024-03-31T00:59:59.25Z')",
    "timestamp('1969-12-31T23:59:59.5Z')",
    "timestamp('2024-07-01T00:00:00+05:30')",
    "timestamp(0)",
    "timestamp(1700000000)",
    "timestamp(input.created)",
)
_durations = _terms(
    "duration('0s')",
    "duration('1.5s')",
    "duration('-90m')",
    "duration('36h')",
    "duration('1ns')",
    "duration('1ms')",
    "duration('8760h')",
    "duration(input.wait)",
)
_patterns = _texts(
    "a",
    "^a",
    "b+$",
    "^.*$",
    "[A-C]+",
    "(?i)ABC",
    "\\\\d",
    "\\\\w+",
    "a|b",
    "^.{2,3}$",
    "\\\\p{L}",
    "",
    "(",
    "[",
    "*",
    "a(?=b)",
    "(a)\\\\1",
    "é",
    "😀",
)
_zones = _texts(
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "+01:30",
    "-08:00",
    "02:00",
    "-00:30",
    "Nowhere/Land",
    "x",
)
_paths = _terms(
    "input.count", "input.absent", "input.person.first", "input.person.absent", "input.person.address.city",
    "input.absent.deep", "input.nothing.deep", "input.name.deep", "input.tags.deep", "vars.limit", "vars.absent",
    "item.sku", "item.absent",
)  # fmt: skip

# --- paths into the context; see contexts.py for its fields

PATHS: dict[Kind, tuple[str, ...]] = {
    Kind.INT: (
        "input.count",
        "vars.limit",
        "input.person.age",
        "item.qty",
        "input['count']",
        "input.numbers[0]",
        "input.items[0].qty",
    ),
    Kind.INDEX: ("vars.limit", "item.qty"),
    Kind.DOUBLE: ("input.price", "vars.rate", "input.amounts[0]", "item.price"),
    Kind.STRING: (
        "input.name",
        "input.note",
        "input.person.first",
        "item.sku",
        "input.tags[1]",
        "input.person.address['city']",
    ),
    Kind.BOOL: ("input.flag", "vars.ready", "input.person.member"),
    Kind.NULL: ("input.nothing",),
    Kind.INTS: ("input.numbers", "input['numbers']"),
    Kind.DOUBLES: ("input.amounts",),
    Kind.STRINGS: ("input.tags",),
    Kind.MIXED: ("input.mixed", "input.items"),
    Kind.MAP: ("input.person", "input.person.address", "item", "vars", "input.empty"),
    Kind.ANY: ("input.mixed[0]", "input.nothing", "input.absent"),
}

_LITERALS: dict[Kind, st.SearchStrategy[Term]] = {
    Kind.INT: _ints,
    Kind.INDEX: _terms("0", "1", "2", "3", "4", "-1", "7"),
    Kind.DOUBLE: _doubles,
    Kind.NUMBER: st.one_of(_ints, _doubles),
    Kind.STRING: _strings(),
    Kind.BOOL: _terms("true", "false"),
    Kind.NULL: _terms("null"),
    Kind.INTS: _terms("[]", "[1, 2, 3]", "[0, -1]"),
    Kind.DOUBLES: _terms("[]", "[1.0, 2.0, 3.0]", "[0.5]"),
    Kind.STRINGS: _terms("[]", "['a', 'b']", "['', '😀', 'a b']"),
    Kind.MIXED: _terms("[]", "[1, 'a', null]", "[[1], {'a': 1.0}, true]"),
    Kind.MAP: _terms("{}", "{'a': 1}", "{'a': {'a': 'x'}, 'b': {'a': null}}"),
    Kind.TIMESTAMP: _timestamps,
    Kind.DURATION: _durations,
    Kind.ANY: st.one_of(
        _terms("null", "true", "[]", "{}", "timestamp(0)", "duration('1s')"), _ints, _doubles, _strings()
    ),
    Kind.PATH: _paths,
    Kind.SHORT: _short_doubles,
    Kind.EXACT: _terms("0", "7", "-3", "9007199254740992", "-9223372036854775808", "vars.limit", "input.items.size()"),
    Kind.INT_TEXT: _int_texts,
    Kind.DOUBLE_TEXT: _double_texts,
    Kind.BOOL_TEXT: _bool_texts,
    Kind.TIMESTAMP_TEXT: _timestamp_texts,
    Kind.DURATION_TEXT: _duration_texts,
    Kind.PATTERN: _patterns,
    Kind.ZONE: _zones,
}


LEAVES: dict[Kind, st.SearchStrategy[Term]] = {
    kind: st.one_of(literals, _terms(*PATHS[kind])) if kind in PATHS else literals
    for kind, literals in _LITERALS.items()
}
