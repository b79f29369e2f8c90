"""What an examination finds."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Health: TypeAlias = Literal["ok", "warning", "problem"]


class Finding(msgspec.Struct, frozen=True):
    """One thing that was examined: its health, and what to do if it is not `ok`."""

    what: str
    health: Health
    text: str
    hint: str = ""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was examined."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no problem; there may be warnings."""
        return all(one.health != "problem" for one in self.findings)


def judged(what: str, text: str, hint: str, health: Health = "warning") -> Finding:
    """Return a finding that is `ok` if there is nothing to do about it."""
    return Finding(what, health if hint else "ok", text, hint)
