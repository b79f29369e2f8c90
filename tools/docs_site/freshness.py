"""Whether a built site is that of the sources as they are now.

A site takes half a minute. It keeps a digest of all that it was made from: the contents of the pages, the package and
the build itself, and the names of all other files, since pages link to them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
_STAMP = ".sources"
_READ = ("docs", "src", "tools/docs_site", "CHANGELOG.md", "CONTRIBUTING.md", "requirements-docs.lock")
_LINKED = (".ci", "bench", "console/src", "console/tests", "examples", "tests", "tools")


def digest_of_sources() -> str:
    """Return the digest of everything that the site is made from."""
    found = hashlib.blake2b()
    for name in _READ:
        for path in _files(ROOT / name):
            found.update(f"{path.relative_to(ROOT)}\0".encode())
            found.update(hashlib.blake2b(path.read_bytes()).digest())
    for path in [*_files(ROOT, "*"), *(path for name in _LINKED for path in _files(ROOT / name))]:
        found.update(f"{path.relative_to(ROOT)}\0".encode())
    return found.hexdigest()


def is_current(site: Path, digest: str) -> bool:
    """Return whether a site was built, to its end, from the sources of a digest."""
    stamp = site / _STAMP
    return stamp.is_file() and stamp.read_text() == digest


def mark_current(site: Path, digest: str) -> None:
    """Keep with a site from which sources it was built."""
    (site / _STAMP).write_text(digest)


def _files(path: Path, pattern: str = "**/*") -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(one for one in path.glob(pattern) if one.is_file() and "__pycache__" not in one.parts)
