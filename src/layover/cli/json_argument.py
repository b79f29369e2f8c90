"""Data that is given on the command line: JSON, a file (@name), or standard input (-)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from layover.cli.exits import Stop

STANDARD_INPUT = "<stdin>"  # a bare dash would be taken for an option
_MOST_BYTES = 16_000_000


def given_data(text: str | None, option: str) -> object:
    """Return the data that an option gives; without it, nothing."""
    if text is None:
        return None
    if text == STANDARD_INPUT:
        return _parsed(sys.stdin.buffer.read(_MOST_BYTES + 1), f"{option} (standard input)")
    if text.startswith("@"):
        try:
            with Path(text[1:]).open("rb") as file:
                return _parsed(file.read(_MOST_BYTES + 1), text[1:])
        except OSError as error:
            raise Stop(f"{text[1:]}: {error.strerror or error}") from error
    return _parsed(text.encode(errors="surrogateescape"), option)


def _parsed(content: bytes, place: str) -> object:
    if len(content) > _MOST_BYTES:
        raise Stop(f"{place}: more than {_MOST_BYTES // 1_000_000} MB of data.")
    try:
        found: object = json.loads(content.decode(), parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise Stop(f"{place}: the data is not UTF-8 text (byte {error.start}).") from error
    except json.JSONDecodeError as error:
        hint = "A text is written in quotes: '\"like this\"'." if _is_bare_word(content) else ""
        raise Stop(f"{place}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}.", hint=hint) from error
    except (ValueError, RecursionError) as error:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Stop(f"{place}: not valid JSON: {what}.") from error
    return found


def _is_bare_word(content: bytes) -> bool:
    return content.strip()[:1].isalpha()


def _refused(word: str) -> object:
    raise ValueError(f"{word} is not a JSON value")
