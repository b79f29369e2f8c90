"""The cursor of a poll: a text of its source's own, kept as JSON in the row of the trigger; none at the beginning."""

from __future__ import annotations

import msgspec

from layover.errors import InvalidInput

LONGEST_CURSOR = 16_000  # bytes


def encode_poll_cursor(cursor: str | None) -> bytes:
    """Return a cursor as it is stored; InvalidInput for one that is too long or no Unicode."""
    if cursor is None:
        return b""
    try:
        size = len(cursor.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput("The cursor is not valid Unicode.", (("cursor", "it is not valid Unicode"),)) from error
    if size > LONGEST_CURSOR:
        message = f"it has {size:,} bytes, and at most {LONGEST_CURSOR:,} are kept"
        raise InvalidInput(f"The cursor is too long: {message}.", (("cursor", message),))
    return msgspec.json.encode(cursor)


def decode_poll_cursor(stored: bytes) -> str | None:
    """Return a stored cursor."""
    return msgspec.json.decode(stored, type=str) if stored else None
