"""The named moments at which a process may die. Each is announced, so that a test can kill the process right there.

Nothing listens in production: an announcement then costs one lookup.
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
    APPEND_COMMITTED = "append_committed"  # durable, and the driver does not know yet
    APPEND_TOLD = "append_told"  # the driver knows, and has not acted on it
    REST_TOLD = "rest_told"  # the same, for an append that gave the execution back
    CALL_IN_THREAD = "call_in_thread"  # a thread has a call, and has not checked yet that it may be made
    CALL_STARTING = "call_starting"  # a node is about to be called
    CALL_RETURNED = "call_returned"  # it has returned, and its execution does not know yet
    CLAIM_COMMITTED = "claim_committed"  # leases are taken, and nothing is loaded
    STATE_LOADED = "state_loaded"  # a state is loaded, and nothing is decided
    COMMAND_COMMITTED = "command_committed"  # a command is accepted, and the caller does not know yet
    ANSWER_COMMITTED = "answer_committed"  # an answer is accepted, and the caller does not know yet
    SIGNAL_KEPT = "signal_kept"  # a signal is stored, and its waiters do not know yet
    SIGNAL_TOLD = "signal_told"  # its waiters have it, and that is not stored yet
    POLL_LEASED = "poll_leased"  # a trigger is leased, and its source is not asked yet
    CURSOR_ADVANCED = "cursor_advanced"  # a trigger has moved on, and what is due of it is not started yet
    INPUT_KEPT = "input_kept"  # an input of a trigger is stored, and its execution does not exist yet
    INPUT_STARTED = "input_started"  # its execution exists, and the trigger does not know yet
    MESSAGES_DELIVERED = "messages_delivered"  # messages have arrived, and are still in the outbox
    MESSAGES_SENT = "messages_sent"  # they are deleted from the outbox
    NOTICE_EXPANDED = "notice_expanded"  # an occasion has become deliveries, and none is claimed yet
    DELIVERY_CLAIMED = "delivery_claimed"  # deliveries are claimed, and nothing is sent
    DELIVERY_MADE = "delivery_made"  # something is sent, and that is not stored yet
    BATCH_CLAIMED = "batch_claimed"  # a batch is claimed, and nothing of it is done
    BATCH_ITEM_DONE = "batch_item_done"  # an act of a batch is done, and that is not stored yet
    BATCH_ITEMS_DONE = "batch_items_done"  # all acts of a round are done, and that is not stored yet
    BATCH_ADVANCED = "batch_advanced"  # it is stored, and the batch is free for the next round
    SEAL_WRITTEN = "seal_written"  # audit entries are sealed, and the transaction is open
    SEAL_COMMITTED = "seal_committed"  # a seal is durable, and its sealer does not know yet
    LEASES_RENEWED = "leases_renewed"
    LEASES_RELEASED = "leases_released"
    SNAPSHOT_DECIDED = "snapshot_decided"  # an append with a snapshot is about to be handed over


_watch: Callable[[CommitPoint], None] | None = None


def watch(listener: Callable[[CommitPoint], None] | None) -> None:
    """Set the listener of all moments, or remove it."""
    global _watch  # noqa: PLW0603 - one process has one way to die
    _watch = listener


def reached(point: CommitPoint) -> None:
    """Announce a moment."""
    if _watch is not None:
        _watch(point)


def announce_soon(point: CommitPoint) -> None:
    """Announce a moment once the current code waits for something."""
    if _watch is not None:
        asyncio.get_running_loop().call_soon(reached, point)
