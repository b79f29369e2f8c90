"""The commands that a driven execution has heard of, in their order."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from layover.core.engine.command_codec import UNREADABLE, decode_command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.engine import commands as cmd
    from layover.ports.records import Command

_log = logging.getLogger("layover.command_cursor")


class CommandCursor:
    """How far its queue has been read, and how far that is in its log; some may have been heard of ahead of others.

    It is read up to the first command that this release cannot read: that one and all behind it are for another.
    """

    __slots__ = ("_execution_id", "ahead", "asked_at", "noted", "seen", "unreadable")

    def __init__(self, execution_id: str, seen: int) -> None:
        self._execution_id = execution_id
        self.seen = seen
        self.noted = seen
        self.ahead: dict[int, Command] = {}
        self.asked_at: list[int] = []  # when those were sent that are read, and not in the log yet
        self.unreadable: Command | None = None

    @property
    def has_next(self) -> bool:
        """Whether the command whose turn it is has been heard."""
        return self.seen + 1 in self.ahead

    def hear(self, command: Command) -> bool:
        """Keep a command for when it is its turn; false if it has been read before."""
        if command.n <= self.seen:
            return False
        self.ahead[command.n] = command
        return True

    def in_turn(self) -> list[cmd.AnyCommand]:
        """Return what the commands ask whose turn it is; from now on they count as seen."""
        asked: list[cmd.AnyCommand] = []
        while (command := self.ahead.pop(self.seen + 1, None)) is not None:
            asked += self.read((command,))
        return asked

    def read(self, commands: Iterable[Command]) -> list[cmd.AnyCommand]:
        """Return durable commands as what they ask; from now on they count as seen."""
        asked: list[cmd.AnyCommand] = []
        for command in commands:
            if command.n <= self.seen:
                continue
            try:
                asked.append(decode_command(command.kind, command.body))
            except UNREADABLE as error:
                _log.error("command_unreadable execution=%s n=%d error=%s", self._execution_id, command.n, error)
                self.unreadable = command
                break
            self.seen = command.n
            self.ahead.pop(command.n, None)
            self.asked_at.append(command.at)
        return asked
