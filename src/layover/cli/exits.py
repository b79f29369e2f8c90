"""How a command ends: a code for scripts, and if it did not go well a sentence for people that says what to do next."""

from __future__ import annotations

DONE = 0
FAILED = 1
BAD_INPUT = 2
UNKNOWN = 3
WRONG_STATE = 4
RESTING = 10
INTERRUPTED = 130


class Stop(Exception):  # noqa: N818 - it says what it does to a command
    """Ends a command: `message` says what is wrong, `hint` what to do about it, `details` where it is wrong."""

    def __init__(self, message: str, code: int = BAD_INPUT, *, hint: str = "", details: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.details = details
