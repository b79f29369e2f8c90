"""What happened in a simulated run: a hash of all of it, and lines that a person can read if they are wanted."""

from __future__ import annotations

import hashlib
from array import array

AT_ONCE = 4_096  # steps that go into the hash together


class Trace:
    """Takes note of every step; two runs of one seed have the same hash."""

    def __init__(self, *, keeps_lines: bool = False) -> None:
        self.lines: list[str] | None = [] if keeps_lines else None
        self._hash = hashlib.blake2b(digest_size=8)
        # Of each step of the event loop: when it is, and whose. What is drawn moves all that follow.
        self.moments = array("d")
        self._words: list[str] = []
        self.word = self._words.append

    def note(self, at: float, who: str, what: str) -> None:
        """Take note of something that a person would want to read: who did what, and when."""
        self.word(what)
        if self.lines is not None:
            self.lines.append(f"{at:12.3f} {who:>8} {what}")

    def step(self, text: str) -> None:
        """Take anything else into the hash."""
        self.word(text)

    def digest(self) -> None:
        """Take what is gathered into the hash. The loop calls it often enough that it does not become too much."""
        self._hash.update(self.moments.tobytes())
        self._hash.update("\n".join(self._words).encode())
        del self.moments[:]
        self._words.clear()

    @property
    def hash(self) -> str:
        """The hash of all that happened so far."""
        self.digest()
        return self._hash.hexdigest()
