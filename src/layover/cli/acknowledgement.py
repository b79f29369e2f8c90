"""What is said after an operation is stored: what was done, and when an instance applies it."""

from __future__ import annotations

import asyncio
from shlex import quote
from typing import TYPE_CHECKING

from layover.admin import running_instances
from layover.cli.screen import note, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.cli.options import Target


def say_stored(what: str, at: Target, *, applied: bool = False, details: Sequence[str] = ()) -> None:
    """Say that an operation is stored, and when it is applied; a server has applied it when it answers."""
    say(what)
    for line in details:
        say(f"  {line}")
    if at.server is not None or applied:
        return
    db = at.database
    if asyncio.run(running_instances(db)):
        note("A running instance applies it at its next step.")
    else:
        note(f"No instance is running on {db}: it is applied when one runs. Start one with")
        note(f"  layover worker --db {quote(db)} --nodes MODULE")
