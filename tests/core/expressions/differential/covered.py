"""The list of what is compared with Google's implementation, and what is not and why."""

from __future__ import annotations

from .shapes import SHAPES

OPERATORS = (
    "_+_", "_-_", "_*_", "_/_", "_%_", "-_", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_in_", "_&&_", "_||_", "!_",
    "_?_:_", "_[_]", "_._", "[…]", "{…}",
)  # fmt: skip

MACROS = ("has", "all", "exists", "exists_one", "filter", "map")

FUNCTIONS = (
    # the standard definitions
    "size", "contains", "startsWith", "endsWith", "matches", "int", "double", "string", "bool", "timestamp", "duration",
    "getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getHours", "getMinutes",
    "getSeconds", "getMilliseconds", "dyn",
    # the strings extension, all of which Google's library has
    "charAt", "format", "indexOf", "join", "lastIndexOf", "lowerAscii", "replace", "reverse", "split", "substring",
    "trim", "upperAscii",
)  # fmt: skip

# CEL features that this language leaves out: there is nothing to compare.
LEFT_OUT = ("bytes", "type", "uint", "quote")

# Additions of Layover to CEL, with tests of their own.
ADDED = ("min", "max", "sum", "sort", "distinct", "round", "json", "parseJson", "now", "next", "uuid")

COVERED = {
    name: tuple(shape for shape in SHAPES if shape.covers == name) for name in dict.fromkeys(s.covers for s in SHAPES)
}
"""One entry per overload: the operation and, after a space, what sets the overload apart."""

CANNOT_FAIL = frozenset(
    name
    for name in COVERED
    # Equality takes any two values, a list any items, and `dyn` anything.
    if name.split(" ")[0] in {"_==_", "_!=_", "[…]"} or name == "dyn"
)
