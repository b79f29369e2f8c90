"""Which part of a page has changed since its reader opened it: each part is known by a few characters of a hash."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from layover.model.points import PausePoint

VIEW_PARTS: Final = "view_parts"  # the name of the field
_SHOWN: Final = 12
_NAMES: Final = {
    "title": "The question",
    "shown": "The facts",
    "form": "The form",
    "leads_to": "What an answer leads to",
    "deadline": "The deadline",
}


def part_hashes(point: PausePoint) -> str:
    """Return the parts of what a point shows, in a form that a page gives back."""
    parts = {
        "title": point.title,
        "shown": point.shown,
        "form": point.schema,
        "leads_to": point.leads_to,
        "deadline": (str(point.deadline), point.on_deadline),
    }
    return ".".join(sha256(msgspec.json.encode(part, order="sorted")).hexdigest()[:_SHOWN] for part in parts.values())


def changed_parts(before: str, now: str) -> str:
    """Return the parts that differ, as the beginning of a sentence."""
    pairs = zip(_NAMES.values(), before.split("."), now.split("."), strict=False)
    changed = [name for name, one, other in pairs if one != other]
    if not changed:
        return "What this page shows"
    first, *rest = changed
    return " and ".join([first, *(one[0].lower() + one[1:] for one in rest)])
