"""How long, how many, how large an argument may be: the same embedded and over HTTP, and refused before it is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec import ValidationError, convert

from layover.core.payloads import plain
from layover.errors import InvalidInput, NotFound
from layover.model.deploy_plans import NodeMap

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,254}")
_VIEW: Final = re.compile(r"[0-9a-f]{64}")

SHORT: Final = 255  # characters of a name, a tag, a reason
COMMENT: Final = 10_000  # characters
CONDITION: Final = 1_000  # characters
CONTEXT_ID: Final = 4_096  # characters
MOST_TAGS: Final = 50
MOST_CONDITIONS: Final = 20
MOST_ROLES: Final = 50
PRIORITY: Final = 1_000_000
LARGEST: Final = 2**31 - 1  # of what is numbered: events, versions


def check_text(name: str, text: object, most: int, least: int = 0) -> None:
    """Refuse a text that is too short or too long, or is none."""
    if text is None:
        return
    if not isinstance(text, str):  # Python passes whatever it is given
        raise refused(name, f"{text!r:.100} is not a text")
    if not least <= len(text) <= most:
        raise refused(name, f"it has {len(text):,} characters: from {least} to {most:,} are allowed")


def check_texts(name: str, texts: Iterable[str], most: int, longest: int = SHORT) -> tuple[str, ...]:
    """Return texts; refuse too many, and those that are too short or too long."""
    if isinstance(texts, str):  # it would be taken for its characters
        raise refused(name, f"{texts!r:.100} is one text: give a list of them")
    found = tuple(texts)
    if len(found) > most:
        raise refused(name, f"there are {len(found):,}: at most {most} are allowed")
    for text in found:
        check_text(name, text, longest, 1)
    return found


def check_number(name: str, number: object, least: int, most: int = LARGEST) -> None:
    """Refuse what is not a whole number, or is too small or too large."""
    if number is None:
        return
    if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
        raise refused(name, f"{number!r:.100} is not a whole number from {least:,} to {most:,}")


def checked_flag(name: str, given: object) -> bool | None:
    """Return what is true, false or not given; refuse everything else."""
    if given is None or isinstance(given, bool):
        return given
    raise refused(name, f"{given!r:.100} is neither true nor false")


def check_mapping(name: str, given: object) -> None:
    """Refuse what is not a mapping."""
    if given is not None and not isinstance(given, Mapping):
        raise refused(name, f"{given!r:.100} is not a mapping")


def checked_part(name: str, given: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """Return a part of an input to look for, as JSON has it."""
    check_mapping(name, given)
    try:
        return None if given is None else {member: plain(value) for member, value in given.items()}
    except InvalidInput as error:
        raise InvalidInput(f"`{name}`: {error.message}", ((name, error.message),), code="invalid_filter") from error


def check_key(key: object) -> None:
    """Refuse an idempotency key that no header can hold."""
    if key is not None and not (isinstance(key, str) and 0 < len(key) <= SHORT and key.isascii() and key.isprintable()):
        raise refused("idempotency_key", f"it has from 1 to {SHORT} printable ASCII characters")


def check_act(reason: str, key: str | None) -> None:
    """Refuse a reason that is too long, or an idempotency key that is none."""
    check_text("reason", reason, SHORT)
    check_key(key)


def check_answer(comment: str, key: str | None, seen: str | None = None) -> None:
    """Refuse a comment that is too long, an idempotency key that is none, or what is not the view of a point."""
    check_text("comment", comment, COMMENT)
    check_key(key)
    check_seen(seen)


def check_seen(seen: object, name: str = "seen") -> None:
    """Refuse what cannot be the view of a pause point."""
    if seen is not None and not (isinstance(seen, str) and _VIEW.fullmatch(seen)):
        raise refused(name, "it is the `view` of a pause point, 64 hexadecimal digits")


def checked_name(workflow: object) -> str:
    """Return the name of a workflow, if one can have it."""
    if not isinstance(workflow, str) or not _NAME.fullmatch(workflow):
        raise NotFound(f"There is no workflow `{workflow!s:.100}`; register it first.", code="unknown_workflow")
    return workflow


def checked_map(names: object) -> dict[str, str]:
    """Return the new ids of nodes by their old ones."""
    try:
        return convert({} if names is None else names, NodeMap)
    except ValidationError as error:
        raise refused("map", f"{error}; write it as {{'old': 'new'}}") from error


def check_name_in_filter(workflow: object) -> None:
    """Refuse to look for a workflow whose name none can have."""
    if workflow is not None and (not isinstance(workflow, str) or not _NAME.fullmatch(workflow)):
        raise refused("workflow", f"{workflow!r:.100} is not the name of a workflow")


def refused(name: str, fault: str) -> InvalidInput:
    """Return the error for an argument."""
    return InvalidInput(f"`{name}`: {fault}.", ((name, fault),), code="invalid_parameter")
