"""Where a sign-in leads to: a path of this server, and no other place, whoever has written the link."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

_LONGEST: Final = 2_000
_PATH: Final = re.compile(r"/(?!/)[!-\[\]-~]*")  # no backslash, which browsers take for a slash; nothing unprintable


def own_path(given: str, base: str) -> str:
    """Return a path if it is one of the server that is mounted at `base`; else nothing."""
    if len(given) > _LONGEST or not _PATH.fullmatch(given):
        return ""
    path = unquote(re.split(r"[?#]", given, maxsplit=1)[0])
    if "\\" in path or "//" in path or ".." in path.split("/") or "." in path.split("/"):
        return ""
    return given if path == base or path.startswith(f"{base.rstrip('/')}/") else ""
