"""Which instances have a database open."""

from __future__ import annotations

from layover.admin.addresses import without_password
from layover.bootstrap import living_instances
from layover.errors import WrongState


async def running_instances(db: str) -> list[str]:
    """Return the instances that have a database open and drive executions."""
    return await living_instances(db)


async def check_unused(db: str, what: str = "is in use") -> None:
    """Raise WrongState (`in_use`) if an instance has a database open."""
    living = await living_instances(db)
    if living:
        count = f"{len(living)} instance{'s' if len(living) > 1 else ''}"
        shown = without_password(db)
        verb = "run" if len(living) > 1 else "runs"
        raise WrongState(f"{shown} {what}: {count} of it {verb}: {', '.join(living)}.", "in_use", code="in_use")
