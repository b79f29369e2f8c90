"""Conditions on executions: paths in the input, each with its value, and conditions as every surface has them.

What begins with `input`, `output`, `vars`, `trigger` or `nodes` is such a condition, as in `output.total>=12`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from layover.cli.exits import Stop
from layover.core.conditions import ROOTS
from layover.model.shared import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONDITION = re.compile(rf"\s*(?:{'|'.join(ROOTS)})\s*[.=!<>~]")
_EXAMPLE = "For example: --where customer.tier=gold --where total=12"


def filters_of(texts: Sequence[str]) -> dict[str, object]:
    """Return the filters that conditions stand for: those of all data, and what the input has to contain."""
    conditions = tuple(text for text in texts if _CONDITION.match(text))
    return {"where": conditions, "contains": wanted([text for text in texts if text not in conditions])}


def wanted(texts: Sequence[str]) -> dict[str, object]:
    """Return what an input has to contain to fulfil several conditions together."""
    document: dict[str, object] = {}
    try:
        for text in texts:
            _add(document, _read(text), text)
        encode(document)  # as it is sent to a server
    except RecursionError as error:
        raise Stop("--where: the condition is nested too deeply.") from error
    except UnicodeEncodeError as error:
        raise Stop("--where: the condition is not valid Unicode.") from error
    return document


def _read(text: str) -> dict[str, object]:
    """Return what one condition asks for: a path with its value, or an object as it is written in JSON."""
    if text.lstrip().startswith("{"):
        found = _value(text)
        if isinstance(found, dict):
            return found
        raise Stop(f"--where: `{text}` is not valid JSON.", hint=_EXAMPLE)
    path, equals, value = text.partition("=")
    names = [name.strip() for name in path.split(".")]
    if not equals or not all(names):
        raise Stop(f"--where: `{text}` is not a path with a value.", hint=_EXAMPLE)
    document = {names[-1]: _value(value)}
    for name in reversed(names[:-1]):
        document = {name: document}
    return document


def _value(text: str) -> object:
    """Return the value that a text stands for: what it is as JSON, or else the text itself."""
    try:
        found: object = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return text
    return found


def _refused(word: str) -> object:
    raise ValueError(word)


def _add(document: dict[str, object], more: dict[str, object], text: str) -> None:
    """Ask for more: what both ask of the same object, or of the same array, is asked of it together."""
    for name, value in more.items():
        found = document.setdefault(name, value)
        if found is value:
            continue
        if isinstance(found, dict) and isinstance(value, dict):
            _add(found, value, text)
        elif isinstance(found, list) and isinstance(value, list):
            found += value
        elif found != value or type(found) is not type(value):
            raise Stop(f"--where: `{text}` contradicts a condition before it.")
