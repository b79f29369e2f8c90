"""What is said after a command was written down: what became of it, and who takes it up."""

from __future__ import annotations

import asyncio
from shlex import quote
from typing import TYPE_CHECKING

from layover.bootstrap import living_instances
from layover.cli.screen import note, say

if TYPE_CHECKING:
    from layover.cli.options import Target


def say_taken(what: str, at: Target, *, applied: bool = False) -> None:
    """Say that something is durable, and when it takes effect; a server has taken it up when it answers."""
    say(what)
    if at.server is not None or applied:
        return
    db = at.database
    if asyncio.run(living_instances(db)):
        note("A running instance takes it at its next step.")
    else:
        note(f"No instance is running on {db}: it takes effect when one is. Start one with")
        note(f"  layover worker --db {quote(db)} --nodes MODULE")
