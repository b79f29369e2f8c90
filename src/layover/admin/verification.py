"""Checking a whole database against everything that must hold of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.admin.progress import AdminProgress
from layover.admin.reading import opened_to_read
from layover.runtime.maintenance.verify import VerifyProgress, Violation
from layover.runtime.maintenance.verify import verify as violations_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.admin.progress import OnProgress


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What was checked, and what does not hold.

    `moving` executions changed too fast for their pause points and commands to be checked.
    """

    executions: int
    events: int
    moving: int
    violations: tuple[Violation, ...]

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.violations


async def verify(
    db: str, *, on_progress: OnProgress | None = None, on_violation: Callable[[Violation], None] | None = None
) -> Verification:
    """Check everything that must hold of a database. It only reads, and may be used while engines are running."""
    done, found = VerifyProgress(), list[Violation]()

    def tell(progress: VerifyProgress) -> None:
        nonlocal done
        done = progress
        if on_progress is not None:
            on_progress(AdminProgress(part="verifying", executions=done.executions, total=done.total))

    async with opened_to_read(db) as store:
        async for violation in violations_in(store, tell):
            found.append(violation)
            if on_violation is not None:
                on_violation(violation)
    return Verification(executions=done.executions, events=done.events, moving=done.moving, violations=tuple(found))
