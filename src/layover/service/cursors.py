"""Cursors: where a list goes on, as one opaque text that goes into an address as it is."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from layover.errors import InvalidInput

# A moment in milliseconds, then the id of what was seen last: pause points have ids of their own kind.
_WRITTEN: Final = re.compile(r"(0|[1-9][0-9]{0,17}) ([!-~]{1,200})")
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LONGEST: Final = 400
_NAMED: Final = "name "  # how the cursor of a name begins, so that no other text is one
_LONGEST_OF_NAME: Final = 1_400  # of 255 characters, each of up to four bytes


def cursor_of(at: int, id_: str) -> str:
    """Return the cursor behind what has a moment and an id."""
    return base64.urlsafe_b64encode(f"{at} {id_}".encode()).decode().rstrip("=")


def parsed(cursor: str) -> tuple[int, str]:
    """Return the moment and the id in a cursor."""
    if len(cursor) <= _LONGEST:
        try:
            written = base64.b64decode(f"{cursor}{'=' * (-len(cursor) % 4)}", altchars=b"-_", validate=True).decode()
        except (binascii.Error, ValueError):
            written = ""
        found = _WRITTEN.fullmatch(written)
        if found is not None and cursor_of(int(found[1]), found[2]) == cursor:
            return int(found[1]), found[2]
    raise malformed_cursor()


def parsed_uuid(cursor: str) -> tuple[int, str]:
    """Return the moment and the id in a cursor of what has UUIDs."""
    at, id_ = parsed(cursor)
    if not _UUID.fullmatch(id_):
        raise malformed_cursor()
    return at, id_


def cursor_of_name(name: str) -> str:
    """Return the cursor behind what has a name, which may be any text."""
    return base64.urlsafe_b64encode(f"{_NAMED}{name}".encode()).decode().rstrip("=")


def parsed_name(cursor: str) -> str:
    """Return the name in a cursor."""
    if len(cursor) <= _LONGEST_OF_NAME:
        try:
            written = base64.b64decode(f"{cursor}{'=' * (-len(cursor) % 4)}", altchars=b"-_", validate=True).decode()
        except (binascii.Error, ValueError):
            written = ""
        name = written.removeprefix(_NAMED)
        if written.startswith(_NAMED) and "\0" not in name and cursor_of_name(name) == cursor:
            return name
    raise malformed_cursor()


def malformed_cursor() -> InvalidInput:
    """Return that a cursor is not one of this list."""
    message = "The cursor is not one of this list: use the `next` of a page as it is."
    return InvalidInput(message, code="malformed_cursor")
