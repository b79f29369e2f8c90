"""Damage to texts and data, as in editors, merges and pipes."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

from .places import value

if TYPE_CHECKING:
    from collections.abc import Callable

    from .dice import Dice

_TOKEN = re.compile(r"\w+|[^\w\s]|\s+")
_REPLACEMENTS = (
    *("", "null", "true", "0", "-1", "1e999", "NaN", ".inf", "''", '"', "{", "}", "[", "]", ":", ": ", ",", "#", "- "),
    *(
        "&a ",
        "*a",
        "!!int",
        "!x",
        "<<",
        "|",
        ">",
        "? ",
        "---",
        "...",
        "\t",
        "\r",
        "\\",
        "\\u0000",
        "\\ud800",
        "${",
        "$${",
    ),
    *(
        "}",
        "${}",
        "x-",
        "next",
        "nodes",
        "id",
        "loop",
        "error",
        "a b",
        "é",
        "\u2028",
        "\x85",
        "\ufeff",
        "\x00",
        "𝄞" * 40,
    ),
)
_BYTES = (b"\x00", b"\xff", b"\xfe\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5", b"\x1b", b"\x7f", b"\xef\xbb\xbf")


def damaged_text(dice: Dice, text: str) -> str | bytes:
    """Return a text after one to three accidents."""
    for _ in range(dice.integer(1, 3)):
        text = dice.pick(_ACCIDENTS)(dice, text)
    if dice.chance(5):
        content = text.encode("utf-8", "surrogatepass")
        at = dice.integer(0, len(content))
        return content[:at] + dice.pick(_BYTES) + content[at:]
    return text


def _drop_a_line(dice: Dice, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at = dice.integer(0, len(lines) - 1)
    return "".join(lines[:at] + lines[at + 1 :])


def _repeat_a_line(dice: Dice, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at = dice.integer(0, len(lines) - 1)
    return "".join(lines[: at + 1] + lines[at:])


def _swap_lines(dice: Dice, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    one, two = (dice.integer(0, len(lines) - 1) for _ in range(2))
    lines[one], lines[two] = lines[two], lines[one]
    return "".join(lines)


def _indent_a_line(dice: Dice, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at = dice.integer(0, len(lines) - 1)
    lines[at] = dice.pick((" " + lines[at], "  " + lines[at], "\t" + lines[at], lines[at][1:], lines[at].lstrip()))
    return "".join(lines)


def _cut_off(dice: Dice, text: str) -> str:
    return text[: dice.integer(0, len(text))]


def _change_tokens(dice: Dice, text: str) -> str:
    """Swap two tokens, or delete, repeat or replace one."""
    tokens = _TOKEN.findall(text) or [""]
    one, two = (dice.integer(0, len(tokens) - 1) for _ in range(2))
    match dice.integer(0, 3):
        case 0:
            tokens[one], tokens[two] = tokens[two], tokens[one]
        case 1:
            tokens[one] = ""
        case 2:
            tokens[one] *= 2
        case _:
            tokens[one] = dice.pick(_REPLACEMENTS)
    return "".join(tokens)


def _insert_text(dice: Dice, text: str) -> str:
    at = dice.integer(0, len(text))
    return text[:at] + (dice.text() if dice.chance() else dice.pick(_REPLACEMENTS)) + text[at:]


_ACCIDENTS: tuple[Callable[[Dice, str], str], ...] = (
    *(_drop_a_line, _repeat_a_line, _swap_lines, _indent_a_line, _cut_off),
    *(_change_tokens, _change_tokens, _insert_text),
)


def damaged_data(dice: Dice, document: dict[str, Any]) -> dict[str, Any]:
    """Return data in which one value, anywhere, is replaced, removed or renamed."""
    copied = copy.deepcopy(document)
    holder, key = dice.pick(_places(copied))
    match dice.integer(0, 3):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[key + dice.pick(("x", " ", "\n", "\u202e")) if dice.chance() else dice.text()] = holder.pop(key)
        case 2:
            other, name = dice.pick(_places(copied))
            holder[key] = copy.deepcopy(other[name])
        case _:
            holder[key] = value(dice, None)
    return copied


def _places(found: Any) -> list[tuple[Any, Any]]:
    """Return every value within a value, as its holder and its key there."""
    places: list[tuple[Any, Any]] = []
    waiting = [found]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            places.append((holder, key))
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
    return places
