"""Word between instances that something is worth a look. It may be lost, come late or twice: nobody depends on it.

What it saves is waiting: without it everything is found by looking, about once a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from layover.ports.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable


class Hint(Record, frozen=True, kw_only=True):
    """Something is due for anybody; or an execution has a command that its driver has not seen, or came to rest."""

    kind: Literal["due", "command", "rest"]
    execution_id: str = ""


@runtime_checkable
class Hints(Protocol):
    """A way to all other instances on the same database."""

    def tell(self, hint: Hint) -> None:
        """Let the others know soon, together with what else there is to tell."""

    def listen(self, hear: Callable[[Hint], None]) -> None:
        """Have somebody hear what the others tell from now on."""
