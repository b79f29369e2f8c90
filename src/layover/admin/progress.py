"""How far work on a database has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

Part: TypeAlias = Literal["looking", "copying", "comparing", "verifying", "deleting"]


class AdminProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How many executions are done in this part of the work, of how many; `total` is None if that is not known."""

    part: Part
    executions: int
    total: int | None = None


OnProgress: TypeAlias = Callable[[AdminProgress], None]


def ignore_progress(progress: AdminProgress) -> None:
    """Do nothing: the caller does not ask for progress."""
