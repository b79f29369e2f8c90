"""The names of secrets, and what of a definition stands for one."""

from __future__ import annotations

import re
from typing import Final

SECRET_NAME: Final = r"^[A-Z][A-Z0-9_]{0,63}$"  # noqa: S105 - a pattern
SECRET_KEY: Final = "$secret"  # noqa: S105 - the key of an object in the log, which has the name

_is_name = re.compile(SECRET_NAME).fullmatch


def is_secret_name(name: str) -> bool:
    """Return whether a secret may have a name."""
    return _is_name(name) is not None


def secret_reference(name: str) -> dict[str, object]:
    """Return what the log has in the place of a secret."""
    return {SECRET_KEY: name}
