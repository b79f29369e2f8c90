"""Secrets by name: what gives their values, and what does not.

A provider is anything with `get`. The runtime asks its providers through one `Secrets` of its own, which keeps what
they gave for a while (`runtime/secrets/`): whatever needs the current value of a secret takes that, and asks again each
time it needs it, so that a rotated secret counts from then on.
"""

from __future__ import annotations

from typing import Final, Protocol, runtime_checkable

import msgspec

SHORTEST_VALUE: Final = 8  # characters: a shorter one could not be masked without masking words
LONGEST_VALUE: Final = 32_768  # characters


class Secret(msgspec.Struct, frozen=True):
    """The value of a secret, and which version of it that is, if its provider has versions."""

    value: str
    version: str = ""

    def __repr__(self) -> str:
        return f"Secret(***, version={self.version!r})"

    __str__ = __repr__

    def __rich_repr__(self) -> list[tuple[str, str]]:
        """Say no more to those who print it in colours."""
        return [("version", self.version)]


@runtime_checkable
class Secrets(Protocol):
    """Gives the current values of secrets by their names."""

    async def get(self, name: str) -> Secret | None:
        """Return a secret; None if there is none of that name here."""
