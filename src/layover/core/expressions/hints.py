"""What to write instead: for words from CEL's extensions, from JavaScript or from Python.

Every entry completes a sentence that names the problem. Nothing here changes the meaning of an expression.
"""

from __future__ import annotations

from typing import Final

# Words and signs where the parser expects an operator or the end.
OPERATORS: Final = {
    "and": "Write `&&`.",
    "or": "Write `||`.",
    "AND": "Write `&&`.",
    "OR": "Write `||`.",
    "is": "Write `==`.",
    "not": "Write `!(x in list)`.",
    "if": "Write `condition ? value : other`.",
    "else": "Write `condition ? value : other`.",
    "instanceof": "Types cannot be asked for.",
}
# Words that were read as a name, in front of another token.
PREFIXES: Final = {
    "not": "Write `!`.",
    "typeof": "Types cannot be asked for.",
    "new": "There are no objects; write a map, `{'key': value}`.",
    "await": "Nothing needs to be awaited: leave it out.",
    "lambda": "Write `list.map(x, …)`.",
}
NAMES: Final = {
    "sets": (
        "There are no set functions: write `b.all(x, x in a)` for `sets.contains(a, b)`,"
        " `b.exists(x, x in a)` for `sets.intersects(a, b)`."
    ),
    "math": "Write `max(…)`, `min(…)` or `round(…)`.",
    "Math": "Write `max(…)`, `min(…)` or `round(…)`.",
    "strings": "The text functions are called on a text, as in `text.trim()`.",
    "lists": "The list functions are called plainly, as in `sort(list)`.",
    "base64": "There is no base64.",
    "optional": "There are no optionals: write `default(value, fallback)`.",
    "cel": "There is no `cel.bind`: write the value out, or set a variable in a `set` node.",
    "google": "There are no messages: write `timestamp(…)`, `duration(…)` or a map.",
    "JSON": "Write `json(value)` or `parseJson(text)`.",
    "Object": "Write `map.map(key, …)` to go through the keys of a map.",
    "Date": "Write `now()` or `timestamp(text)`.",
    "Number": "Write `double(value)` or `int(value)`.",
    "String": "Write `string(value)`.",
    "undefined": "Write `null`, or `has(a.field)` to ask whether a field is there.",
    "None": "Write `null`.",
    "nil": "Write `null`.",
    "True": "Write `true`.",
    "False": "Write `false`.",
    "env": "Put settings into `input` or `vars`.",
}
FUNCTIONS: Final = {
    "length": "Write `size(value)`.",
    "len": "Write `size(value)`.",
    "count": "Write `size(list.filter(x, condition))`.",
    "isEmpty": "Write `size(value) == 0`.",
    "includes": "Write `value in list`, or `text.contains(part)`.",
    "toUpperCase": "Write `text.upperAscii()`.",
    "upper": "Write `text.upperAscii()`.",
    "toLowerCase": "Write `text.lowerAscii()`.",
    "lower": "Write `text.lowerAscii()`.",
    "strip": "Write `text.trim()`.",
    "substr": "Write `text.substring(start, end)`.",
    "slice": "Write `text.substring(start, end)`, or pick from a list with `filter`.",
    "concat": "Write `a + b`.",
    "toString": "Write `string(value)`, or `json(value)` for lists and maps.",
    "str": "Write `string(value)`, or `json(value)` for lists and maps.",
    "parseInt": "Write `int(text)`.",
    "parseFloat": "Write `double(text)`.",
    "float": "Write `double(value)`.",
    "some": "Write `list.exists(x, condition)`.",
    "any": "Write `list.exists(x, condition)`.",
    "every": "Write `list.all(x, condition)`.",
    "find": "Write `list.filter(x, condition)[0]`.",
    "reduce": "Write `sum(…)`, `min(…)` or `max(…)`.",
    "forEach": "Write `list.map(x, value)`.",
    "transformList": "Write `list.map(x, value)`.",
    "existsOne": "Write `list.exists_one(x, condition)`.",
    "keys": "Write `map.map(key, key)`.",
    "values": "Write `map.map(key, map[key])`.",
    "entries": "Write `map.map(key, [key, map[key]])`.",
    "get": "Write `default(map[key], fallback)`.",
    "orValue": "Write `default(value, fallback)`.",
    "coalesce": "Write `default(value, fallback)`.",
    "abs": "Write `x < 0 ? -x : x`.",
    "floor": "Write `int(x)`, which cuts off the fraction, or `round(x)`.",
    "ceil": "Write `round(x)`, or `int(x)`, which cuts off the fraction.",
    "greatest": "Write `max(…)`.",
    "least": "Write `min(…)`.",
    "test": "Write `text.matches('pattern')`.",
    "match": "Write `text.matches('pattern')`.",
    "flatten": "Lists can be joined with `+`.",
    "sortBy": "Write `sort(list)` on values that can be compared.",
    "type": "Types cannot be asked for.",
    "uint": "There are no unsigned integers: write `int(value)`.",
    "bytes": "There are no bytes.",
    "quote": "Write `json(text)`.",
    "isSorted": "Write `list == sort(list)`.",
}
_SIZES: Final = frozenset({"length", "count", "size", "len"})


def for_field(field: str, place: str) -> str:
    """Return what to write instead of a field of a value without fields, to append to a sentence, or nothing."""
    return f" Write `size({place})`." if field in _SIZES else ""


def as_suffix(hint: str | None) -> str:
    """Return a hint as the end of a sentence, or nothing."""
    return f" {hint}" if hint else ""
