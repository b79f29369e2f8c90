"""Writes JSON data as readable YAML that `read_yaml` reads back to an equal value.

Mappings and lists are written as blocks, in the order given; small ones of scalars only on one line if it fits. Text of
several lines is a literal block. Text has no quotes only where no reader takes it for anything else, neither by
YAML 1.2 nor by 1.1 (`on`, `1:30`, `2026-01-01`). There are never anchors, aliases or tags.

Invariants: the column at which a block is written is the indentation that readers count from, because a literal block
may name its own indentation. The data is what `read_json` gives: bounded in depth, numbers finite, text whole.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Final

from layover.core.definitions.yaml_scalars import reads_as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.definitions.tree import Json

_WIDTH: Final = 100
_MOST_MEMBERS_ON_A_LINE: Final = 4
_LONGEST_KEY: Final = 1000  # a parser looks 1024 characters ahead for the colon
_STEP: Final = "  "
_BLANK: Final = " \t\n"

_UNPRINTABLE = "[^ -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_ESCAPED = re.compile(rf'[\\"]|{_UNPRINTABLE}')
_UNPRINTABLE_CHARACTER = re.compile(_UNPRINTABLE).search
_UNPRINTABLE_BUT_BREAKS = re.compile(_UNPRINTABLE.replace("[^", "[^\t\n")).search
_ESCAPES: Final = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"}

_PLAIN = re.compile(r"[\w$/(.+^-][^\x00-\x1f]*", re.DOTALL).fullmatch
_NOT_PLAIN = re.compile(r":(?:\s|\Z)|\s#|\s\Z|\A[-.]{1,3}(?:\s|\Z)").search
_NOT_PLAIN_ON_A_LINE = re.compile(r"[,\[\]{}:]").search
_OTHERWISE_READ = re.compile(  # by YAML 1.1
    r"(?:y|n|yes|no|on|off|true|false|null)|[-+.0-9][-+.0-9_:,eE]*|[-+]?0[xXbo][0-9a-fA-F_]*|[-+]?\.(?:inf|nan)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*",
    re.IGNORECASE | re.DOTALL,
).fullmatch


def write_yaml(value: Json) -> str:
    """Return plain JSON data as YAML."""
    return "\n".join(_block(value, "")) + "\n"


def _block(value: Json, indent: str) -> Iterator[str]:
    """Write a value in lines; the text before the first one is already written."""
    if isinstance(value, dict) and value:
        return _mapping(value, indent)
    if isinstance(value, list) and value:
        return _list(value, indent)
    if isinstance(value, str) and _is_literal(value):
        return _literal(value, indent)
    return iter((_on_a_line(value, _WIDTH) or "",))


def _mapping(value: dict[str, Json], indent: str) -> Iterator[str]:
    lead = ""
    for key, child in value.items():
        name = _text(key, on_a_line=False)
        if len(name) > _LONGEST_KEY:
            yield f"{lead}? {name}"
            lead, name = indent, ""
        yield from _member(f"{lead}{name}:", child, indent, _WIDTH - len(indent) - len(name) - 2)
        lead = indent


def _member(lead: str, child: Json, indent: str, room: int) -> Iterator[str]:
    line = _on_a_line(child, room)
    if line is not None:
        yield f"{lead} {line}"
    elif isinstance(child, str):
        literal = _literal(child, indent)
        yield f"{lead} {next(literal)}"
        yield from literal
    else:
        deeper = indent + _STEP
        block = _block(child, deeper)
        yield lead
        yield deeper + next(block)
        yield from block


def _list(value: list[Json], indent: str) -> Iterator[str]:
    lead, deeper = "", indent + _STEP
    for child in value:
        line = _on_a_line(child, _WIDTH - len(deeper))
        if line is not None:
            yield f"{lead}- {line}"
        else:
            block = _block(child, indent if isinstance(child, str) else deeper)
            yield f"{lead}- {next(block)}"
            yield from block
        lead = indent


def _literal(text: str, indent: str) -> Iterator[str]:
    """Write text of several lines as it is, one step deeper than the block around it."""
    body = text.rstrip("\n")
    breaks = len(text) - len(body)
    indentation = str(len(_STEP)) if text[0] in _BLANK else ""
    yield f"|{indentation}{('-', '', '+')[min(breaks, 2)]}"
    for line in body.split("\n") + [""] * (breaks - 1):
        yield indent + _STEP + line if line else ""


def _is_literal(text: str) -> bool:
    return "\n" in text and not text.isspace() and not _UNPRINTABLE_BUT_BREAKS(text)


def _on_a_line(value: Json, room: int) -> str | None:
    """Return a value on one line, or None if it should not be."""
    if isinstance(value, dict):
        return _members_on_a_line(value, room)
    if isinstance(value, list):
        return _items_on_a_line(value, room)
    if isinstance(value, str) and _is_literal(value):
        return None
    return _scalar(value)


def _members_on_a_line(value: dict[str, Json], room: int) -> str | None:
    if len(value) > _MOST_MEMBERS_ON_A_LINE or not all(map(_is_short, value.values())):
        return None
    members = (f"{_text(key, on_a_line=True)}: {_scalar(child, on_a_line=True)}" for key, child in value.items())
    line = f"{{{', '.join(members)}}}"
    return line if len(line) <= room or not value else None


def _items_on_a_line(value: list[Json], room: int) -> str | None:
    if len(value) > _WIDTH or not all(map(_is_short, value)):
        return None
    line = f"[{', '.join(_scalar(child, on_a_line=True) for child in value)}]"
    return line if len(line) <= room or not value else None


def _is_short(value: Json) -> bool:
    if isinstance(value, str):
        return len(value) <= _WIDTH and "\n" not in value
    return not isinstance(value, dict | list)


def _scalar(value: Json, *, on_a_line: bool = False) -> str:
    """Write null, a boolean, a number or text."""
    if isinstance(value, str):
        return _text(value, on_a_line=on_a_line)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return _fraction(value)
    return str(value)


def _fraction(value: float) -> str:
    if not isfinite(value):
        raise ValueError("JSON has no infinity and no NaN")
    digits, exponent, power = repr(value).partition("e")
    return (digits if "." in digits else f"{digits}.0") + exponent + power  # YAML 1.1 wants the point


def _text(text: str, *, on_a_line: bool) -> str:
    if _UNPRINTABLE_CHARACTER(text):
        return '"' + _ESCAPED.sub(_escape, text) + '"'
    if _is_plain(text) and not (on_a_line and _NOT_PLAIN_ON_A_LINE(text)):
        return text
    return "'" + text.replace("'", "''") + "'" if '"' in text or "\\" in text or "'" not in text else f'"{text}"'


def _is_plain(text: str) -> bool:
    return bool(_PLAIN(text)) and not _NOT_PLAIN(text) and reads_as_text(text) and not _OTHERWISE_READ(text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    number = ord(character)
    if 0xD800 <= number <= 0xDFFF:
        raise ValueError("text holds half of a character (a lone surrogate)")
    return _ESCAPES.get(character) or (f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}")
