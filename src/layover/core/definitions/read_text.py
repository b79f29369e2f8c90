"""Reads a definition's text, whatever it is written in, into a tree of placed values.

Invariants: the size is bounded before anything else is read, and every outcome is a tree or a problem. Which
of the two syntaxes a text is in is decided from its beginning alone: brackets followed by a double quote, a closing
bracket or nothing are JSON, comments with slashes are reported by the JSON reader, everything else is YAML. Trying one
after the other would accept too much, because YAML takes the value of `{"retries": 3 // at most}` for the text `3 // at
most`, and would report faults of JSON as faults of YAML.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Final, Literal

from layover.core.definitions.json_text import read_json
from layover.core.definitions.line_numbers import line_and_column
from layover.core.definitions.tree import SourcePosition, Tree

if TYPE_CHECKING:
    from layover.core.definitions.limits import DefinitionLimits
    from layover.core.definitions.problems import Problems

Syntax = Literal["yaml", "json", "auto"]

_IS_JSON = re.compile(r'[ \t\r\n]*+(?:[\[{][\[{ \t\r\n]*+(?:["/\]}]|\Z)|/[/*])').match
_BYTE_ORDER_MARK: Final = "\ufeff"
_OTHER_ENCODINGS: Final = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def read_text(
    source: str | bytes, problems: Problems, limits: DefinitionLimits, *, syntax: Syntax = "auto"
) -> Tree | None:
    """Return the value that a text spells, or None if it cannot be read; the problems say why."""
    if _is_too_large(source, limits.bytes):
        message = f"The text is larger than {limits.bytes} bytes."
        problems.add("too_large", SourcePosition(None, None, 1, 1), message)
        return None
    text = _decoded(source, problems) if isinstance(source, bytes) else source
    if text is None:
        return None
    text = text.removeprefix(_BYTE_ORDER_MARK)
    if syntax == "json" or (syntax == "auto" and _IS_JSON(text)):
        return read_json(text, problems, limits)
    from layover.core.definitions.yaml_text import read_yaml  # noqa: PLC0415 - PyYAML is loaded only where it is needed

    return read_yaml(text, problems, limits)


def _is_too_large(source: str | bytes, most: int) -> bool:
    if len(source) > most or isinstance(source, bytes):
        return len(source) > most
    if source.isascii() or len(source) * 4 <= most:
        return False
    return len(source.encode("utf-8", "surrogatepass")) > most


def _decoded(source: bytes, problems: Problems) -> str | None:
    encoding = _other_encoding(source)
    if encoding is not None:
        message = f"The text is in {encoding}: save it as UTF-8."
        problems.add("bad_encoding", SourcePosition(None, None, 1, 1), message)
        return None
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError as error:
        before = source[: error.start].decode("utf-8").removeprefix(_BYTE_ORDER_MARK)
        place = SourcePosition(None, None, *line_and_column(before, len(before)))
        message = f"The byte 0x{source[error.start]:02X} is not UTF-8: save the text as UTF-8."
        problems.add("bad_encoding", place, message)
        return None


def _other_encoding(source: bytes) -> str | None:
    """Name the encoding that a byte order mark or a NUL beside the first character gives away."""
    for mark, name in _OTHER_ENCODINGS:
        if source.startswith(mark):
            return name
    if source[:3] == b"\0\0\0" or source[1:4] == b"\0\0\0":
        return "UTF-32"
    return "UTF-16" if len(source) > 1 and (source[0] == 0) != (source[1] == 0) else None
