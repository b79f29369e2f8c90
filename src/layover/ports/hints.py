"""Hints between instances that something may have changed. They may be lost, late or repeated: nothing depends on them.

They save waiting: without them each instance polls, about once a second. PostgreSQL has a channel for all of them; on
SQLite only `trigger` is heard, and `change` by an instance that follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Protocol, runtime_checkable

from layover.ports.records import StoreRecord

if TYPE_CHECKING:
    from collections.abc import Callable


FOLLOWED_FOR: Final = 30.0  # seconds for which an instance is told of changes after it said that it follows
FOLLOW_AGAIN: Final = 10.0  # seconds after which it says so again, while it does


class Hint(StoreRecord, frozen=True, kw_only=True):
    """Something is due for any instance; or an execution has a command unknown to its driver, or came to rest.

    `trigger` says that something of the triggers may be due earlier than an instance knows. `follow` asks to be told of
    each execution that changes, for a while; `change` tells of one.
    """

    kind: Literal["due", "command", "rest", "trigger", "follow", "change"]
    execution_id: str = ""


@runtime_checkable
class Hints(Protocol):
    """A channel to all other instances on the same database."""

    def tell(self, hint: Hint) -> None:
        """Send a hint soon, together with other pending ones."""

    def listen(self, hear: Callable[[Hint], None]) -> None:
        """Call a function for every hint of other instances from now on."""
