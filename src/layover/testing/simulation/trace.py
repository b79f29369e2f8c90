"""What happened in a simulated run: a hash of all of it, and lines that a person can read if they are wanted."""

from __future__ import annotations

import hashlib
from array import array

_AT_ONCE = 4_096  # steps that go into the hash together


class Trace:
    """Takes note of every step; two runs of one seed have the same hash."""

    def __init__(self, *, keeps_lines: bool = False) -> None:
        self.lines: list[str] | None = [] if keeps_lines else None
        self._hash = hashlib.blake2b(digest_size=8)
        self._moments = array("d")
        self._words: list[str] = []

    def tick(self, at: float, who: str) -> None:
        """Take a step of the event loop into the hash: whose it is, and when. What is drawn moves all that follow."""
        self._moments.append(at)
        self._words.append(who)
        if len(self._moments) >= _AT_ONCE:
            self._digest()

    def note(self, at: float, who: str, what: str) -> None:
        """Take note of something that a person would want to read: who did what, and when."""
        self._words.append(what)
        if self.lines is not None:
            self.lines.append(f"{at:12.3f} {who:>8} {what}")

    def step(self, text: str) -> None:
        """Take anything else into the hash."""
        self._words.append(text)

    def _digest(self) -> None:
        self._hash.update(self._moments.tobytes())
        self._hash.update("\n".join(self._words).encode())
        del self._moments[:]
        self._words.clear()

    @property
    def hash(self) -> str:
        """The hash of all that happened so far."""
        self._digest()
        return self._hash.hexdigest()
