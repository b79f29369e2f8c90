"""The named moments between which a process can die. Each is announced, so that a test can end the process right there.

Nothing listens in production, and announcing then costs the look at one name.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class CommitPoint(StrEnum):
    """A moment that a crash must not harm."""

    APPEND_DECIDED = "append_decided"  # events are decided, nothing is written
    ROWS_WRITTEN = "rows_written"  # the store has written rows, and its transaction is open
    APPEND_COMMITTED = "append_committed"  # durable, and nobody has been told
    APPEND_TOLD = "append_told"  # the driver knows, and has not acted on it
    REST_TOLD = "rest_told"  # the same, for an append that gave the execution back
    CALL_IN_THREAD = "call_in_thread"  # a thread has a call, and has not looked whether it may still make it
    CALL_STARTING = "call_starting"  # a node is about to be called
    CALL_RETURNED = "call_returned"  # it has returned, and nobody has been told
    CLAIM_COMMITTED = "claim_committed"  # leases are taken, and nothing is loaded
    STATE_LOADED = "state_loaded"  # a state is loaded, and nothing is decided
    COMMAND_COMMITTED = "command_committed"  # a command is accepted, and nobody has been told
    ANSWER_COMMITTED = "answer_committed"  # an answer is accepted, and nobody has been told
    SIGNAL_KEPT = "signal_kept"  # a signal is kept, and nobody who waits has been told
    SIGNAL_TOLD = "signal_told"  # they have been told, and that is not noted
    MESSAGES_DELIVERED = "messages_delivered"  # messages have arrived, and are still in the outbox
    MESSAGES_SENT = "messages_sent"  # they are not there any more
    LEASES_RENEWED = "leases_renewed"
    LEASES_RELEASED = "leases_released"
    SNAPSHOT_DECIDED = "snapshot_decided"  # an append with a snapshot is about to be handed over


_watch: Callable[[CommitPoint], None] | None = None


def watch(listener: Callable[[CommitPoint], None] | None) -> None:
    """Have somebody told of every moment, or nobody."""
    global _watch  # noqa: PLW0603 - one process has one way to die
    _watch = listener


def reached(point: CommitPoint) -> None:
    """Announce a moment."""
    if _watch is not None:
        _watch(point)


def announce_soon(point: CommitPoint) -> None:
    """Announce a moment once what goes on here has to wait for something."""
    if _watch is not None:
        asyncio.get_running_loop().call_soon(reached, point)
