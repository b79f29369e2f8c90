"""Checks that a package holds the console. It builds nothing: the built files are part of the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ConsoleHook(BuildHookInterface):  # type: ignore[type-arg] # its parameter is internal to hatch
    """Refuses to build a package without the console."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - as hatch calls it
        """Look for the page."""
        page = Path(self.root) / "src/layover/console/static/index.html"
        if not page.is_file():
            raise FileNotFoundError(f"{page} is missing: run `make console`, which needs Node 20.19 or newer")
