"""Replies to requests with an idempotency key, which a client may repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.access import IdempotentReply


class IdempotencyStore(Protocol):
    """Requests in progress, and the replies to those that are done."""

    async def begin(self, reply: IdempotentReply, now: int) -> IdempotentReply | None:
        """Record that a request is in progress; return what is known of one with the same scope and key instead.

        One that should be done by now, and asks for the same, has died: its place is taken.
        """

    async def finish(self, reply: IdempotentReply) -> None:
        """Store the reply to a request."""

    async def abandon(self, scope: str, key: str) -> None:
        """Delete the record of a request in progress: it came to nothing."""

    async def delete_expired(self, now: int, most: int) -> int:
        """Delete expired replies; return how many."""
