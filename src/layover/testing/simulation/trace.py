"""What happened in a simulated run: a hash of all of it, and lines that a person can read if they are wanted."""

from __future__ import annotations

import hashlib


class Trace:
    """Takes note of every step; two runs of one seed have the same hash."""

    def __init__(self, *, keeps_lines: bool = False) -> None:
        self.lines: list[str] | None = [] if keeps_lines else None
        self._hash = hashlib.blake2b(digest_size=8)

    def step(self, text: str) -> None:
        """Take a step of the event loop into the hash."""
        self._hash.update(text.encode())

    def note(self, at: float, who: str, what: str) -> None:
        """Take note of something that a person would want to read: who did what, and when."""
        self._hash.update(what.encode())
        if self.lines is not None:
            self.lines.append(f"{at:12.3f} {who:>8} {what}")

    @property
    def hash(self) -> str:
        """The hash of all that happened so far."""
        return self._hash.hexdigest()
