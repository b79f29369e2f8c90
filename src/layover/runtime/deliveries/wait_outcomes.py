"""The outcome of a delivery that a `send` node waits for: a message to its execution, which becomes a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import commands as cmd
from layover.core.engine.command_codec import encode_command
from layover.ports.records import Message

if TYPE_CHECKING:
    from layover.ports.delivery_records import DeliveryRow


def sent_outcome(row: DeliveryRow, now: int) -> Message:
    """Return the message that all deliveries of a point were sent."""
    return _message(row, cmd.Delivered(point=row.point, id=row.id, at=now), now)


def failed_outcome(row: DeliveryRow, reason: str, error: str, now: int) -> Message:
    """Return the message that one of them was given up."""
    message = f"The delivery to `{row.destination}` was given up ({reason}). {error}".strip()
    return _message(row, cmd.Delivered(point=row.point, id=row.id, at=now, error=message), now)


def _message(row: DeliveryRow, command: cmd.Command, now: int) -> Message:
    kind, body = encode_command(command)
    return Message(sender=row.id, n=row.epoch, destination=row.execution_id or "", kind=kind, body=body, due_at=now)
