"""Commands that this release cannot read: a newer one sent them, and an instance of that release goes on with them.

The execution is given back with the kind of the command among what it misses, as if that were a type of node: whoever
knows the kind takes it up at once, and nobody else is bothered with it more than once a minute. The body of a command
may be unreadable although its kind is known; then only time can tell whether somebody else can read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from layover.core.engine.command_codec import knows_command
from layover.core.engine.commands import AnyCommand
from layover.runtime.execution.pending_append import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.ports.records import Command

_MARK: Final = "command:"  # no type of node has a colon in its name

# What an instance of this release says that it can go on with, beside its functions.
READABLE: Final = frozenset(f"{_MARK}{kind.__name__}" for kind in get_args(AnyCommand) if kind not in OWN)


def mark_of(command: Command) -> str:
    """Return what an execution misses that cannot go on for a command."""
    return f"{_MARK}{command.kind}{'?' if knows_command(command.kind) else ''}"


def kinds_in(missing: Iterable[str]) -> list[str]:
    """Return the kinds of commands among what an execution misses."""
    return [one.removeprefix(_MARK).rstrip("?") for one in missing if one.startswith(_MARK)]
