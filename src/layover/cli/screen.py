"""What is printed. Nothing in the data of an execution can move the cursor, turn a line around or fake another one.

Lines are plain and stable where no person looks; colours and live pictures are for terminals.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from rich.console import Console
from rich.text import Text

from layover.core.definitions.durations import brief_duration
from layover.model.shared import encode
from layover.redaction import without_password

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover import Moment

Pieces: TypeAlias = "Iterable[tuple[str, str]]"


class Printer(Console):
    """A console that leaves it to its caller what becomes of a command whose reader has gone away."""

    def on_broken_pipe(self) -> None:
        """Tell the caller."""
        raise BrokenPipeError


OUT = Printer(highlight=False, soft_wrap=True)
ERR = Printer(stderr=True, highlight=False, soft_wrap=True)

STYLES = {
    "completed": "green",
    "failed": "red",
    "cancelled": "red",
    "incident": "red",
    "paused": "yellow",
    "pausing": "yellow",
    "waiting": "yellow",
    "backoff": "yellow",
    "running": "cyan",
    "scheduled": "cyan",
    "queued": "cyan",
    "entered": "cyan",
    "open": "yellow",
}

_LONGEST = 400
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


def harmless(text: str, most: int = _LONGEST) -> str:
    """Return text as one line of printable characters, cut where it is too long to read."""
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return cut if cut.isprintable() else "".join(map(_visible, cut))


def brief(value: object, most: int = 120) -> str:
    """Return data as compact JSON on a part of a line."""
    return harmless(encode(value).decode(), most)


def say(text: str, style: str = "", most: int = _LONGEST) -> None:
    """Print a line."""
    OUT.print(Text(harmless(text, most), style=style))


def say_pieces(pieces: Pieces) -> None:
    """Print a line of pieces that have styles of their own."""
    OUT.print(styled(pieces))


def styled(pieces: Pieces) -> Text:
    """Return a line of pieces that have styles of their own."""
    line = Text()
    for text, style in pieces:
        line.append(harmless(text), style=style or None)
    return line


def note(text: str, style: str = "") -> None:
    """Print a line for people beside what the command gives; the address of a database may be part of it."""
    ERR.print(Text(harmless(without_password(text)), style=style))


def print_json(value: object) -> None:
    """Print data for machines: what a terminal could take for an order is escaped, and reads back the same."""
    text = msgspec.json.format(encode(value)).decode()
    if not text.isascii():
        text = _UNPRINTABLE.sub(lambda found: _escaped(found[0]), text)
    sys.stdout.write(f"{text}\n")


def print_text(text: str) -> None:
    """Print a text as it is; in a terminal, without what that could take for an order."""
    if sys.stdout.isatty():
        text = "".join(one if one in "\n\t" else _visible(one) for one in text)
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def moment(at: Moment | None) -> str:
    """Return a moment as people read it."""
    return "-" if at is None else str(at)[:19].replace("T", " ")


def between(began: Moment | None, ended: Moment | None) -> str:
    """Return how long something took, if it is over."""
    return brief_duration(ended.milliseconds - began.milliseconds) if began is not None and ended is not None else "-"


def plural(number: int, noun: str) -> str:
    """Return a number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_table(rows: list[list[str]], styles: dict[int, dict[str, str]] | None = None) -> None:
    """Print rows in columns as wide as their widest cell; `styles` gives some columns a style for each text."""
    cells = [[harmless(cell, 80) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        last = len(row) - 1
        pieces = [
            (cell if index == last else f"{cell:{widths[index]}}  ", (styles or {}).get(index, {}).get(cell, ""))
            for index, cell in enumerate(row)
        ]
        say_pieces(pieces)


def _visible(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()


def _escaped(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
