"""What an examination finds."""

from __future__ import annotations

from typing import Literal, TypeAlias

from layover.model.shared import Resource

Health: TypeAlias = Literal["ok", "warning", "problem"]


class Finding(Resource, frozen=True):
    """One thing that was examined: its health, and what to do if it is not `ok`."""

    what: str
    health: Health
    text: str
    hint: str = ""


class Diagnosis(Resource, frozen=True, kw_only=True):
    """Everything that was examined; `ok` says that there is no problem, though there may be warnings."""

    ok: bool
    findings: tuple[Finding, ...]


def diagnosis_of(findings: tuple[Finding, ...]) -> Diagnosis:
    """Return findings with what they come to."""
    return Diagnosis(ok=all(one.health != "problem" for one in findings), findings=findings)


def judged(what: str, text: str, hint: str, health: Health = "warning") -> Finding:
    """Return a finding that is `ok` if there is nothing to do about it."""
    return Finding(what=what, health=health if hint else "ok", text=text, hint=hint)
