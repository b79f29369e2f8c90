"""Messages that this instance has just written, for the relay to deliver at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from layover.core.notifications import NOTIFY
from layover.runtime.execution.outbox_messages import ADMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Message
    from layover.runtime.clock import Clock


_MOST_NOTICES: Final = 500  # with so many messages at hand, notices stay in the outbox until they come due


class NewMessages:
    """New messages in their order, and when the outbox is looked at for those that are due."""

    def __init__(self) -> None:
        self._hinted = asyncio.Event()
        self.written: list[Message] = []
        self.is_stopped = False
        self.look_at = 0

    def post(self, messages: Sequence[Message]) -> None:
        """Deliver messages that were just written; those for later are found when they come due."""
        if self.is_stopped:
            return  # what is delivered may lead to more, without an end
        for message in messages:
            # The instance that began an execution asks for its admission; the message is for the case that it dies.
            if message.kind == ADMIT or (message.kind == NOTIFY and len(self.written) >= _MOST_NOTICES):
                self.look_at = min(self.look_at, message.due_at)
            else:
                self.written.append(message)
        self._hinted.set()

    def look(self) -> None:
        """Look at once for messages that are due: some were just written."""
        self.look_at = 0
        self._hinted.set()

    def stop(self) -> None:
        """Take no more."""
        self.is_stopped = True
        self._hinted.set()

    async def wait(self, clock: Clock) -> None:
        """Wait for new messages, or for those that come due."""
        self._hinted.clear()
        await clock.wait(self.look_at, self._hinted)
