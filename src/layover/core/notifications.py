"""The occasions on which people and systems are told something: each follows from one event of a log.

An append that writes such an event writes a message of kind `notify` with it, if the definition or the settings ask for
that kind; a `send` node writes one as well. Any instance expands the message into deliveries.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

import msgspec

# The kind of the message, and the text in the place of its destination: no execution is told.
NOTIFY: Final = "notify"

PointOccasion: TypeAlias = Literal[
    "pause.opened",
    "pause.reminded",
    "pause.escalated",
    "pause.delegated",
    "pause.asked",
    "pause.replied",
    "pause.decided",
    "pause.answered",
    "pause.taken_back",
    "pause.expired",
    "pause.cancelled",
    "pause.reopened",
]
ExecutionOccasion: TypeAlias = Literal[
    "execution.paused",
    "execution.resumed",
    "execution.completed",
    "execution.failed",
    "execution.cancelled",
]
ServiceOccasion: TypeAlias = Literal["trigger.error", "destination.disabled", "delivery.dead"]
OccasionKind: TypeAlias = Literal[PointOccasion, ExecutionOccasion, ServiceOccasion]

POINT_OCCASIONS: Final[tuple[str, ...]] = get_args(PointOccasion)
EXECUTION_OCCASIONS: Final[tuple[str, ...]] = get_args(ExecutionOccasion)
SERVICE_OCCASIONS: Final[tuple[str, ...]] = get_args(ServiceOccasion)
OCCASIONS: Final = (*POINT_OCCASIONS, *EXECUTION_OCCASIONS, *SERVICE_OCCASIONS)
# Those that ask for an answer: they are not sent once the point is no longer open.
REQUESTS: Final = frozenset(
    {
        *("pause.opened", "pause.reminded", "pause.escalated", "pause.delegated", "pause.reopened"),
        *("pause.asked", "pause.replied"),
    }
)
TRIGGER_ERROR: Final = "trigger.error"
SEND: Final = "send"  # the kind of what a `send` node sends


class Occasion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The body of a message of kind `notify`; its sender and number name the event.

    What is told of the event is read from the log when the message is expanded. Occasions of triggers, destinations and
    deliveries have no execution: `subject` names what they are about.
    """

    kind: str
    point: str = ""
    workflow: str = ""
    hash: str = ""  # of the definition whose rules count, besides those of the settings
    subject: str = ""
    reason: str = ""
    send: Sent | None = None


class Sent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a `send` node sends, rendered; with `awaited`, the point of the message waits for its outcome."""

    via: object  # the name of a destination, or an inline one
    to: tuple[str, ...] = ()
    subject: str = ""
    text: str = ""
    data: object = None
    awaited: bool = False
