"""The settings of an engine that are allowed but ask for trouble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.model.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORT_LEASE: Final = 5_000  # milliseconds: garbage collection, a slow disk or a busy machine may take as long


def judge_lease(lease: int) -> Iterator[Finding]:
    """Tell if leases are so short that an instance may lose its executions to a pause of its own."""
    if lease < _SHORT_LEASE:
        hint = "Set lease_ttl to 10s or more: an instance that is held up for longer loses its executions."
        yield Finding("setting lease_ttl", "warning", f"{lease} ms is short", hint)
