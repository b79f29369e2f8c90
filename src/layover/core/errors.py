"""One root for every error a caller may meet: a stable code for machines, a sentence for people."""

from __future__ import annotations


class LayoverError(Exception):
    """The root of all errors that Layover raises on purpose."""

    code: str = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
