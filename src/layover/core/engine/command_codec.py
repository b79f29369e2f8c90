"""Commands as bytes, while they wait in a queue: the name of the command, and its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import msgspec

from layover.core.engine.commands import AnyCommand
from layover.errors import LayoverError

if TYPE_CHECKING:
    from layover.core.engine.commands import Command


class UnknownCommand(LayoverError):  # noqa: N818 - it says what the command is
    """A command that this release does not know: most likely a newer release sent it."""

    code = "unknown_command"


UNREADABLE = (UnknownCommand, msgspec.MsgspecError, UnicodeError, RecursionError)

_DECODERS: dict[str, msgspec.json.Decoder[AnyCommand]] = {
    command.__name__: msgspec.json.Decoder(command) for command in get_args(AnyCommand)
}


def knows_command(kind: str) -> bool:
    """Return whether this release knows a kind of command."""
    return kind in _DECODERS


def encode_command(command: Command) -> tuple[str, bytes]:
    """Return the kind of a command and its fields."""
    return type(command).__name__, msgspec.json.encode(command)


def decode_command(kind: str, body: bytes) -> AnyCommand:
    """Return the command that was encoded."""
    decoder = _DECODERS.get(kind)
    if decoder is None:
        raise UnknownCommand(f"This release of Layover does not know the command `{kind}`.")
    return decoder.decode(body)
