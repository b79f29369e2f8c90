"""Ids of executions: ordered by time, or derived from an idempotency key."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from layover.core.ids import uuid8
from layover.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Ids:
    """Generates ids; those of one millisecond are ordered too."""

    _LAST = 0xFFF

    def __init__(self, secret: Callable[[int], bytes] = os.urandom) -> None:
        self._secret = secret
        self._moment, self._count = -1, 0

    def new(self, now: int) -> str:
        """Return a UUID of version 7: the time in milliseconds, a number within them, then chance."""
        self._count = min(self._count + 1, self._LAST) if now == self._moment else 0
        self._moment = now
        chance, moment = self._secret(8).hex(), f"{now:012x}"
        variant = "89ab"[int(chance[0], 16) & 3]
        return f"{moment[:8]}-{moment[8:]}-7{self._count:03x}-{variant}{chance[1:4]}-{chance[4:16]}"


new_id = Ids().new  # for what no engine gives out


def id_from_key(workflow: str, key: str) -> str:
    """Return the UUID of version 8 that belongs to an idempotency key of a workflow."""
    return uuid8(f"{workflow}\0{key}")


def checked_id(given: object, what: str = "an execution id") -> str:
    """Return an id in its usual form."""
    lowered = given.lower() if isinstance(given, str) else ""  # Python passes whatever it is given
    if not _UUID.fullmatch(lowered):
        raise InvalidInput(f"`{str(given)[:64]}` is not {what}; those are UUIDs.", code="malformed_id")
    return lowered


def is_point_id(given: object) -> bool:
    """Return whether something can be the id of a pause point: those are UUIDs too, always in their usual form."""
    return isinstance(given, str) and _UUID.fullmatch(given) is not None
