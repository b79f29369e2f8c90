"""Expressions that parse, and are hostile when they run or with hostile data."""

from __future__ import annotations

import json

from .case import (
    ARGUMENT,
    BUDGET,
    NO_KEY,
    OVERFLOW,
    OVERLOAD,
    RANGE,
    SYNTAX,
    UNKNOWN,
    answered,
    deep,
    deep_map,
    nested,
    stopped,
)

TEN = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
LARGE = list(range(100_000))
LETTERS = "a" * 1_000_000
_DEEP = deep(100_000)
_TWO_DEEP = {"a": _DEEP, "b": deep(100_000)}


def _bomb(macro: str, depth: int) -> str:
    """Ten rounds inside ten rounds inside ten rounds."""
    return "".join(f"{TEN}.{macro}(x{level}, " for level in range(depth)) + "true" + ")" * depth


def _doubling(seed: str, body: str, times: int) -> str:
    """Multiply a value by eight again and again, each time through a list of one."""
    source = seed
    for level in range(times):
        source = f"[{source}].map(v{level}, {body.replace('v', f'v{level}')})[0]"
    return source


BOMBS = (
    stopped("a map bomb", _bomb("map", 8)),
    stopped("a filter bomb", f"{TEN}.filter(x, {_bomb('all', 7)})"),
    stopped("an all bomb", _bomb("all", 8)),
    stopped("an exists_one bomb", _bomb("exists_one", 8)),
    stopped("a bomb behind `|| true`", f"{_bomb('all', 8)} || true"),
    stopped("a bomb behind `&& false`", f"({_bomb('all', 8)}) && false"),
    stopped("a bomb behind default()", f"default({_bomb('all', 8)}, 1)"),
    stopped("a bomb behind exists", f"[1, 2].exists(y, y == 2 || {_bomb('all', 8)})"),
    stopped("a list doubled 30 times", _doubling("[1]", "v+v+v+v+v+v+v+v", 10)),
    stopped("a text doubled 30 times", _doubling("'ab'", "v+v+v+v+v+v+v+v", 10)),
    stopped("a value whose parts are shared 2³⁰ times", "[1]" + ".map(a, [a, a])" * 30),
    stopped("a time whose list is shared 2³⁰ times", "[timestamp(0)]" + ".map(a, [a, a])" * 30),
    stopped("a map whose parts are shared 2³⁰ times", "[1]" + ".map(a, {'a': a, 'b': a})" * 30),
    stopped(
        "shared parts compared",
        "[[1]" + ".map(a, [a, a])" * 25 + "].all(v, v == [[2]]" + ".map(a, [a, a])" * 24 + ")",
        BUDGET,
        "value",
    ),
    stopped("shared parts written as text", "'%s'.format([[1]" + ".map(a, [a, a])" * 25 + "])", BUDGET),
    stopped("shared parts written as JSON", "json([1]" + ".map(a, [a, a])" * 25 + ")", BUDGET),
    stopped(
        "a long text looked for among copies of another",
        "input.t in input.a.map(x, input.u)",
        input={"a": LARGE[:5_000], "t": LETTERS + "b", "u": LETTERS + "c"},
    ),
    stopped(
        "the largest among copies of a long text",
        "max(input.a.map(x, input.t)) == ''",
        input={"a": LARGE[:5_000], "t": LETTERS},
    ),
    stopped(
        "distinct among copies of two long texts",
        "distinct(input.a.map(x, x % 2 == 0 ? input.t : input.u)).size()",
        input={"a": LARGE[:5_000], "t": LETTERS, "u": "".join(["a"] * 1_000_000)},
    ),
    stopped(
        "a last place searched for in quadratic time",
        "input.t.lastIndexOf(input.p)",
        BUDGET,
        "value",
        input={"t": "a" * 200_000, "p": "ab" + "a" * 100_000},
    ),
    stopped(
        "a place searched for in quadratic time",
        "input.t.indexOf(input.p)",
        BUDGET,
        "value",
        input={"t": "a" * 200_000, "p": "a" * 100_000 + "b"},
    ),
    stopped("a split into letters beyond Latin", "input.split('').size()", BUDGET, input="😀é" * 300_000),
    stopped(
        "a list multiplied by concatenation", f"{TEN}.map(x, input.list + input.list).size()", input={"list": LARGE}
    ),
    stopped(
        "a text multiplied by join",
        "input.list.map(x, input.text).join().size()",
        input={"list": LARGE, "text": "a" * 1000},
    ),
    stopped(
        "a text multiplied by its separator",
        "input.list.join(input.text).size()",
        input={"list": ["a"] * 100_000, "text": "a" * 1000},
    ),
    stopped("a text multiplied by replace", "input.text.replace('a', input.text).size()", input={"text": LETTERS}),
    stopped(
        "a text multiplied by replace of nothing",
        "input.text.replace('', input.text).size()",
        input={"text": "a" * 100_000},
    ),
    stopped(
        "a split into a million letters", "input.text.split('').map(x, x.split('')).size()", input={"text": LETTERS * 2}
    ),
    stopped(
        "a comparison of two long lists, again and again",
        "input.a.all(x, input.a == input.b)",
        input={"a": LARGE, "b": list(LARGE)},
    ),
    stopped("membership in a long list, again and again", "input.a.all(x, !(-1 in input.a))", input={"a": LARGE}),
    stopped(
        "a search in a long text, again and again",
        "input.a.all(x, !input.t.contains('b'))",
        input={"a": LARGE, "t": LETTERS},
    ),
    stopped(
        "a match on a long text, again and again",
        "input.a.all(x, !input.t.matches('b$'))",
        input={"a": LARGE, "t": LETTERS},
    ),
    stopped(
        "upper case of a long text, again and again",
        "input.a.all(x, input.t.upperAscii() != '')",
        input={"a": LARGE, "t": LETTERS},
    ),
    stopped(
        "text compared with text, again and again",
        "input.a.all(x, input.t == input.u)",
        input={"a": LARGE, "t": LETTERS, "u": "".join(["a"] * 1_000_000)},
    ),
    stopped("sorting, again and again", "input.a.all(x, sort(input.a) != [])", input={"a": LARGE[::-1]}),
    stopped("sorting a list that is too long", "sort(input.a)[0]", input={"a": LARGE[::-1]}),
    stopped(
        "distinct on a list of lists", "distinct(input.a).size()", input={"a": [[number] for number in range(5_000)]}
    ),
    stopped("distinct on a long list", "distinct(input.a).size()", input={"a": LARGE}),
    stopped("sum, again and again", "input.a.all(x, sum(input.a) > 0)", input={"a": LARGE}),
)

_SHARED = "[1]" + ".map(a, {'a': a, 'b': a})" * 28

TYPES = (
    stopped("types that share their parts, side by side", f"true ? {_SHARED} : {_SHARED}", BUDGET),
    stopped("types that share their parts, in a list", f"[{_SHARED}, {_SHARED}]", BUDGET),
    stopped("types that share their parts, in a message", f"{_SHARED} + 1", OVERLOAD, BUDGET),
    stopped("types that share their parts, in a call", f"size({_SHARED}, 1)", UNKNOWN),
    stopped("types that share their parts, compared", f"{_SHARED} < {_SHARED}", OVERLOAD, BUDGET),
    answered(
        "types of 1,200 different maps", "[" + ",".join(f"{{'a{n}': 1}}" for n in range(1_200)) + "].size()", 1_200
    ),
)

_MEGABYTE_OF_TEXT = "'aaaaaaaaaa'" + ".replace('a','aaaaaaaaaa')" * 5

FOLDED = (
    stopped("constants that fold to megabytes", "[" + ",".join([_MEGABYTE_OF_TEXT] * 110) + "].size()"),
    stopped(
        "a constant of 1 MB compared again and again", f"input.all(x, 'b' + {_MEGABYTE_OF_TEXT} != 'c')", input=LARGE
    ),
    stopped("a constant that never ends to fold", "'a'" + ".replace('a','aaaaaaaaaa')" * 60),
)

FORMATS = (
    stopped("a precision of 999,999,999", "'%.999999999f'.format([1.0])", ARGUMENT),
    stopped("a precision of many digits", "'%." + "9" * 10_000 + "f'.format([1.0])", ARGUMENT),
    stopped("a width", "'%999999999d'.format([1])", ARGUMENT),
    stopped("a format of 8,000 percent signs", "'" + "%s" * 8_000 + "'.format([1])", ARGUMENT, RANGE),
    stopped("a format that ends early", "'%.'.format([1.0])", ARGUMENT),
    stopped("format of deep data", "'%s'.format([input])", BUDGET, ARGUMENT, OVERLOAD, "value", input=_DEEP),
    stopped("format of long data, many times", "'" + "%s" * 50 + "'.format([" + "input," * 50 + "])", input=LARGE),
    stopped(
        "a long fraction, many times", "'" + "%.1000f" * 1_200 + "'.format([" + "0.1," * 1_200 + "])", BUDGET, ARGUMENT
    ),
    stopped("string() of deep data", "string(input)", OVERLOAD, input=_DEEP),
)

PATTERNS = (
    answered("a nested repetition", "('" + "a" * 5_000 + "!').matches('(a+)+$')", value=False),
    answered("alternatives that overlap", "('" + "a" * 5_000 + "').matches('^(a|aa)+b$')", value=False),
    stopped("a repetition of repetitions", "'a'.matches('((a{1000}){1000})')", ARGUMENT),
    stopped("repetitions five deep", "'a'.matches('((((a{30}){30}){30}){30}){30}')", ARGUMENT),
    stopped("a very long alternative", "'a'.matches('" + "a|" * 8_000 + "')", "value", ARGUMENT, BUDGET),
    stopped("a look-ahead", "'a'.matches('a(?=b)')", ARGUMENT),
    stopped("a reference back", "'aa'.matches('(a)\\\\1')", ARGUMENT),
    stopped("8,000 groups", "'a'.matches('" + "(" * 7_000 + ")" * 7_000 + "')", ARGUMENT),
    stopped(
        "a pattern from data, another each time",
        "input.a.all(x, !'a'.matches(string(x) + '(b|c|d)*e{100}'))",
        BUDGET,
        input={"a": LARGE},
    ),
    stopped("a pattern of 1 MB from data", "'a'.matches(input)", "value", ARGUMENT, BUDGET, input=LETTERS),
    stopped("a wide class repeated", "'a'.matches('([^\\\\x00-\\\\x{10ffff}]|\\\\pL{100}){100}')", ARGUMENT, "value"),
)

DEEP_DATA = (
    stopped(
        "deep lists compared",
        "input.a == input.b",
        BUDGET,
        "value",
        OVERLOAD,
        input=_TWO_DEEP,
    ),
    stopped(
        "deep maps compared",
        "input.a == input.b",
        BUDGET,
        "value",
        OVERLOAD,
        input={"a": deep_map(100_000), "b": deep_map(100_000)},
    ),
    stopped(
        "deep data looked for in a list",
        "input.a in [input.b]",
        BUDGET,
        "value",
        OVERLOAD,
        input=_TWO_DEEP,
    ),
    stopped(
        "deep data made distinct",
        "distinct([input.a, input.b]).size()",
        BUDGET,
        "value",
        OVERLOAD,
        ARGUMENT,
        input=_TWO_DEEP,
    ),
    stopped("deep data written as JSON", "json(input)", BUDGET, ARGUMENT, input=_DEEP),
    stopped("deep JSON read", "parseJson(input)", ARGUMENT, BUDGET, input=nested("[", "]", 100_000, "")),
    stopped("deep JSON maps read", "parseJson(input)", ARGUMENT, BUDGET, input=nested('{"a":', "}", 100_000)),
    stopped("JSON text that is never closed", "parseJson(input)", ARGUMENT, BUDGET, input='"' + '\\"' * 300_000),
    stopped("JSON of many quotes", "parseJson(input)", ARGUMENT, BUDGET, input='"' * 900_001),
    stopped("JSON that is never closed", "parseJson(input)", ARGUMENT, BUDGET, input="[" * 100_000),
    stopped(
        "JSON of many numbers", "parseJson(input).size()", BUDGET, ARGUMENT, "value", input=json.dumps([1] * 300_000)
    ),
    stopped(
        "JSON of many empty lists",
        "parseJson(input).size()",
        BUDGET,
        ARGUMENT,
        "value",
        input="[" + "[]," * 300_000 + "[]]",
    ),
    stopped("JSON with a long number", "parseJson(input)", ARGUMENT, BUDGET, OVERFLOW, "value", input="9" * 100_000),
    stopped("JSON with NaN", "parseJson('NaN')", ARGUMENT),
    stopped("JSON with a lone surrogate", "parseJson(input)", ARGUMENT, "value", input='"\\ud800"'),
    stopped("a number too long to convert", "int(input)", ARGUMENT, RANGE, OVERFLOW, input="9" * 100_000),
    stopped("a number too long for a double", "double(input) > 0.0", ARGUMENT, "value", BUDGET, input="9" * 100_000),
    stopped(
        "an integer beyond 64 bits in the data",
        "input + 1",
        OVERFLOW,
        OVERLOAD,
        RANGE,
        ARGUMENT,
        "value",
        input=10**5000,
    ),
    stopped(
        "an integer beyond 64 bits multiplied", "input * input", OVERFLOW, OVERLOAD, RANGE, ARGUMENT, input=10**5000
    ),
    stopped(
        "an integer beyond 64 bits as a double", "double(input)", OVERFLOW, OVERLOAD, RANGE, ARGUMENT, input=10**5000
    ),
    stopped("an integer beyond 64 bits as text", "string(input)", OVERFLOW, OVERLOAD, RANGE, ARGUMENT, input=10**5000),
    stopped(
        "an integer beyond 64 bits compared with a double",
        "input > 1.5",
        OVERFLOW,
        OVERLOAD,
        RANGE,
        ARGUMENT,
        "value",
        input=10**5000,
    ),
    stopped("a lone surrogate in the data matched", "input.matches('a')", ARGUMENT, "value", input="\ud800"),
    stopped("a lone surrogate in a pattern", "'a'.matches(input)", ARGUMENT, input="\ud800("),
    stopped("a lone surrogate in hexadecimal", "'%x'.format([input])", ARGUMENT, "value", input="\ud800"),
    stopped("a lone surrogate as a time zone", "timestamp(0).getHours(input)", ARGUMENT, input="\ud800"),
    stopped("a time zone that climbs", "timestamp(0).getHours('../../../etc/passwd')", ARGUMENT),
    stopped("a time zone that is absolute", "timestamp(0).getHours('/etc/localtime')", ARGUMENT),
    stopped("a time zone of 1 MB", "timestamp(0).getHours(input)", ARGUMENT, input=LETTERS),
    stopped("a time zone with NUL", "timestamp(0).getHours('UTC\\x00')", ARGUMENT),
    stopped("a time of 1 MB", "timestamp(input)", ARGUMENT, input="2" * 1_000_000),
    stopped("a duration of 1 MB", "duration(input)", ARGUMENT, input="1h" * 500_000),
    stopped("an index beyond 64 bits", "[1][9223372036854775807]", RANGE),
    stopped("a substring beyond 64 bits", "'a'.substring(9223372036854775807)", RANGE, ARGUMENT),
    answered("a replacement count beyond reason", "'aaa'.replace('a', 'b', 9223372036854775807)", "bbb"),
    stopped("a key beyond 64 bits", "{'a': 1}[input]", NO_KEY, OVERLOAD, OVERFLOW, ARGUMENT, RANGE, input=10**5000),
    stopped("a position beyond 64 bits", "[1][input]", RANGE, OVERLOAD, OVERFLOW, ARGUMENT, input=10**5000),
    stopped("a precision beyond 64 bits", "round(1.5, input)", ARGUMENT, RANGE, OVERFLOW, OVERLOAD, input=10**5000),
    stopped("numbers beyond 64 bits summed", "sum([input, 1])", RANGE, OVERFLOW, OVERLOAD, input=10**5000),
    stopped("a time beyond 64 bits", "timestamp(input)", RANGE, OVERFLOW, OVERLOAD, input=10**5000),
    stopped(
        "a number beyond 64 bits in text", "'%d %s'.format([input, input])", RANGE, OVERFLOW, ARGUMENT, input=10**5000
    ),
    stopped("a count beyond 64 bits", "'a'.split('', input)", RANGE, OVERFLOW, ARGUMENT, "value", input=10**5000),
    stopped("a key that is a number beyond 64 bits", "{input: 1}", RANGE, OVERFLOW, ARGUMENT, "value", input=10**5000),
    stopped(
        "two keys that are a number beyond 64 bits", "{input: 1, input: 2}", RANGE, OVERFLOW, ARGUMENT, input=10**5000
    ),
)

REACHING_OUT = tuple(
    stopped(
        f"reaching for {source}",
        source,
        NO_KEY,
        OVERLOAD,
        UNKNOWN,
        ARGUMENT,
        SYNTAX,
        input={"name": "x", "list": [1]},
        vars={},
    )
    for source in (
        "input.__class__",
        "input.__class__.__mro__",
        "''.__class__.__mro__[1].__subclasses__()",
        "''.__class__",
        "[].__class__",
        "{}.__class__",
        "1.__class__",
        "(1).__class__",
        "null.__class__",
        "input['__init__']",
        "input.name['__class__']",
        "input.list['__len__']",
        "input.keys",
        "input.keys()",
        "input.items()",
        "input.get('name')",
        "input.name.encode()",
        "input.name.upper()",
        "input.name.format_map(input)",
        "'{0.__class__}'.format([1]).x",
        "input.list.append(1)",
        "input.list.copy()",
        "timestamp(0).tzinfo",
        "timestamp(0).__reduce__()",
        "duration('1s').days",
        "size.__globals__",
        "__import__('os')",
        "__builtins__",
        "globals()",
        "eval('1')",
        "self",
        "meter",
        "meter.steps",
        "moment.now",
        "[1].map(x, x.__class__)",
        "[1].map(__class__, __class__.real)",
        "execution.__dict__",
    )
)
