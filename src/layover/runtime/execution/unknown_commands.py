"""Commands of a newer release that this one cannot read: an instance of that release goes on with the execution.

The execution is released with the kind of the command among its missing node types: an instance that knows the kind
claims it at once, and other instances look at it once a minute at most. The body of a command may be unreadable
although its kind is known; such an execution is retried later, since another instance may be able to read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from layover.core.engine.command_codec import knows_command
from layover.core.engine.commands import AnyCommand
from layover.runtime.execution.pending_append import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.ports.records import QueuedCommand

_MARK: Final = "command:"  # no type of node has a colon in its name

# What an instance of this release says that it can go on with, beside its functions.
READABLE: Final = frozenset(f"{_MARK}{kind.__name__}" for kind in get_args(AnyCommand) if kind not in OWN)


def mark_of(command: QueuedCommand) -> str:
    """Return the missing type by which an execution waits for a release that can read a command."""
    return f"{_MARK}{command.kind}{'?' if knows_command(command.kind) else ''}"


def kinds_in(missing: Iterable[str]) -> list[str]:
    """Return the kinds of commands among the missing types of an execution."""
    return [one.removeprefix(_MARK).rstrip("?") for one in missing if one.startswith(_MARK)]
