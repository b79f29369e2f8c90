"""Questions that people ask back before they answer a point, and the replies to them.

The point stays open and its deadline runs. A question goes to one person: the requester, unless another is named. That
person and the requester may reply. There is a bound on how many questions a point has, and on their length.
"""

from __future__ import annotations

from typing import Final

import msgspec

MOST_QUESTIONS: Final = 20  # at one point
LONGEST_QUESTION: Final = 2_000  # characters, of a reply as well


class PointQuestion(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One question and its reply."""

    by: str
    to: str
    at: int
    question: str
    reply: str | None = None
    replied_by: str | None = None
    replied_at: int | None = None
