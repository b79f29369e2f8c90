"""A database file is for its owner alone, and so is what lies beside it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from layover.bootstrap import open_runtime

if TYPE_CHECKING:
    from pathlib import Path


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def found_in(folder: Path) -> tuple[dict[str, int], set[str]]:
    """Return the permissions of all that is in a folder, and which of it are folders."""
    found = [*folder.rglob("*")]
    return {path.name: mode_of(path) for path in found}, {path.name for path in found if path.is_dir()}


async def test_a_new_database_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o000)
    try:
        async with open_runtime(f"sqlite:///{tmp_path / 'new.db'}"):
            modes, folders = found_in(tmp_path)
    finally:
        os.umask(before)

    assert {"new.db", "new.db-wal", "new.db-shm"} <= modes.keys()
    assert {name: oct(mode) for name, mode in modes.items()} == {
        name: oct(0o700 if name in folders else 0o600) for name in modes
    }
    assert folders


async def test_a_database_that_is_there_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    path.touch()
    path.chmod(0o660)
    async with open_runtime(f"sqlite:///{path}"):
        pass

    assert mode_of(path) == 0o660
