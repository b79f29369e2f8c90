"""Secrets in the environment of the process: `LAYOVER_SECRET_<NAME>`."""

from __future__ import annotations

import os
from typing import Final

from layover.ports.secrets import Secret

PREFIX: Final = "LAYOVER_SECRET_"


class EnvironmentSecrets:
    """Reads variables of the environment, as they are at that moment."""

    source = "environment"

    async def get(self, name: str) -> Secret | None:
        """Return the value of a variable."""
        value = os.environ.get(f"{PREFIX}{name}")
        return Secret(value) if value is not None else None
