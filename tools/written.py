"""Write what a tool makes, or with `--check` see that it is already written: used by the tools that write files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def write(files: Mapping[Path, str]) -> None:
    """Write files with their texts; with `--check`, exit with 1 and their names if any differs from its text."""
    if "--check" not in sys.argv[1:]:
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
        return
    if stale := [str(path) for path, text in files.items() if path.read_text(encoding="utf-8") != text]:
        sys.exit(f"out of date: {', '.join(stale)}; run python {sys.argv[0]}")
