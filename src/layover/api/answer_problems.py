"""What answering a pause point may be refused with."""

from __future__ import annotations

from typing import Final

PROBLEMS: Final = (
    "unknown_point",
    "not_answerable",
    "not_allowed",
    "requester_excluded",
    "expired",
    "already_answered",
    "already_decided",
    "not_your_turn",
    "claimed",
    "point_closed",
    "decision_required",
    "comment_required",
    "invalid_answer",
    "payload_reserved",
)
DELEGATION_PROBLEMS: Final = (
    *("unknown_point", "not_answerable", "not_allowed", "requester_excluded", "already_decided", "expired"),
    "point_closed",
)
