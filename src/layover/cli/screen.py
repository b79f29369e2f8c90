"""What is printed. Nothing in the data of an execution can move the cursor, turn a line around or fake another one.

Lines are plain and stable where no person looks; colours and live pictures are for terminals.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

Pieces: TypeAlias = "Iterable[tuple[str, str]]"


class Printer(Console):
    """A console that leaves it to its caller what becomes of a command whose reader has gone away."""

    def on_broken_pipe(self) -> None:
        """Tell whoever prints."""
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
_PASSWORD = re.compile(r"((?<=://)[^:/@\s]*:)\S*(?=@)|((?<=[?&])(?:ssl)?password=)[^&\s]*")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


def harmless(text: str, most: int = _LONGEST) -> str:
    """Return text as one line of printable characters, cut where it is too long to read."""
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return cut if cut.isprintable() else "".join(map(_visible, cut))


def without_password(text: str) -> str:
    """Return a text with addresses in it as it may be shown."""
    return _PASSWORD.sub(r"\1\2***", text)


def brief(value: object, most: int = 120) -> str:
    """Return data as compact JSON on a part of a line."""
    return harmless(msgspec.json.encode(value).decode(), most)


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
    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    if not text.isascii():
        text = _UNPRINTABLE.sub(lambda found: _escaped(found[0]), text)
    sys.stdout.write(f"{text}\n")


def moment(at: str | int | None) -> str:
    """Return a moment as people read it."""
    if at is None:
        return "-"
    if isinstance(at, str):
        return at[:19].replace("T", " ")
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def milliseconds(at: str) -> int:
    """Return a moment as it is counted with."""
    return round(datetime.fromisoformat(at).timestamp() * 1000)


def between(began: str | None, ended: str | None) -> str:
    """Return how long something took, if it is over."""
    return length(milliseconds(ended) - milliseconds(began)) if began is not None and ended is not None else "-"


def length(milliseconds: int) -> str:
    """Return a length of time as people read it, its two largest units at most."""
    if milliseconds < 1_000:
        return f"{milliseconds}ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f}s"
    seconds = milliseconds // 1000
    if seconds < 3_600:
        return f"{seconds // 60}m{seconds % 60:02}s"
    if seconds < 86_400:
        return f"{seconds // 3_600}h{seconds % 3_600 // 60:02}m"
    return f"{seconds // 86_400}d{seconds % 86_400 // 3_600:02}h"


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
