"""How far the command queue of an active execution has been read."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from msgspec import field

from layover.core.engine.command_codec import UNREADABLE, decode_command
from layover.core.light_structs import LightStruct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.engine import commands as cmd
    from layover.ports.records import QueuedCommand

_log = logging.getLogger("layover.command_cursor")


class CommandCursor(LightStruct):
    """The position in the queue, the position that is in the log, and commands that arrived ahead of their turn.

    The queue is read up to the first command that this release does not know: a newer release takes it from there.
    """

    _execution_id: str
    seen: int
    noted: int
    ahead: dict[int, QueuedCommand] = field(default_factory=dict)
    asked_at: list[int] = field(default_factory=list)  # when those were sent that are read, and not in the log yet
    senders: list[str] = field(default_factory=list)  # the spans from which commands of this leg were sent
    unreadable: QueuedCommand | None = None

    @property
    def has_next(self) -> bool:
        """Whether the next command has arrived."""
        return self.seen + 1 in self.ahead

    def hear(self, command: QueuedCommand) -> bool:
        """Store a command until its turn; false if it has been read before."""
        if command.n <= self.seen:
            return False
        self.ahead[command.n] = command
        return True

    def in_turn(self) -> list[cmd.AnyCommand]:
        """Return the commands whose turn it is, and count them as seen."""
        asked: list[cmd.AnyCommand] = []
        while (command := self.ahead.pop(self.seen + 1, None)) is not None:
            asked += self.read((command,))
        return asked

    def read(self, commands: Iterable[QueuedCommand]) -> list[cmd.AnyCommand]:
        """Decode durable commands, and count them as seen."""
        asked: list[cmd.AnyCommand] = []
        for command in commands:
            if command.n <= self.seen:
                continue
            try:
                decoded = decode_command(command.kind, command.body)
            except UNREADABLE as error:
                _log.exception("command_unreadable execution=%s n=%d error=%s", self._execution_id, command.n, error)
                self.unreadable = command
                break
            asked.append(decoded)
            if decoded.traceparent:
                self.senders.append(decoded.traceparent)
            self.seen = command.n
            self.ahead.pop(command.n, None)
            self.asked_at.append(command.at)
        return asked
