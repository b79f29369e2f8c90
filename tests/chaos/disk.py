"""A small disk for the database that can be filled, where this user may mount one; elsewhere an ordinary folder."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PIECE = b"\0" * 65_536


class Disk:
    """A folder, on a file system of its own if there can be one."""

    def __init__(self, folder: Path, size: str) -> None:
        self.folder = folder
        folder.mkdir()
        mounting = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(folder)]
        try:
            self.can_be_full = subprocess.run(mounting, capture_output=True, check=False).returncode == 0  # noqa: S603
        except FileNotFoundError:
            self.can_be_full = False
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Leave no room for another byte."""
        with suppress(OSError), self._ballast.open("ab", buffering=0) as file:
            while True:
                file.write(_PIECE)
        with suppress(OSError), self._ballast.open("ab", buffering=0) as file:
            while file.write(b"\0" * 512):
                pass

    def empty(self) -> None:
        """Make room again."""
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        if self.can_be_full:
            subprocess.run(["umount", "--lazy", str(self.folder)], capture_output=True, check=False)  # noqa: S603, S607
            self.can_be_full = False
