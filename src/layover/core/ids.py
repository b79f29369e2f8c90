"""Ids derived from what they identify: the same step decided or delivered again gives the same id."""

from __future__ import annotations

import hashlib


def uuid8(seed: str) -> str:
    """Return a UUIDv8 made of the SHA-256 of a text."""
    digits = hashlib.sha256(seed.encode()).hexdigest()
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def trigger_id(workflow: str, name: str) -> str:
    """Return the id of a trigger. It follows from its names: registered again, it is the same trigger."""
    return uuid8(f"trigger/{workflow}/{name}")


def child_id(parent: str, context_id: str, attempt: int, life: int = 0) -> str:
    """Return the id of the execution that an attempt of a workflow node starts.

    A parent whose id was chosen by its caller may have existed before and left a child: `life` keeps them apart.
    """
    return uuid8(f"{parent}/{context_id}/{attempt}/{life}" if life else f"{parent}/{context_id}/{attempt}")


def may_live_again(execution_id: str) -> bool:
    """Return whether another execution can get the same id once this one is gone: all but those made of time can."""
    return execution_id[14:15] not in ("7", "")
