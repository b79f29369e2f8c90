"""Secrets in files: all in one, or each in one of its own, as containers mount them.

Files are read in a thread, because a file system may hang, and each time anew: the caller keeps what it got.
"""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Final

from layover.core.secret_names import is_secret_name
from layover.ports.secrets import LONGEST_VALUE, Secret

_LARGEST_FILE: Final = 1_000_000  # bytes
_LARGEST_VALUE: Final = LONGEST_VALUE * 4  # bytes: more than so many characters
_OF_OTHERS: Final = 0o077


class UnusableSecrets(Exception):  # noqa: N818 - it says what the file is
    """A file that cannot be used. Its text never has anything of the content."""


class SecretsFile:
    """One file with a line `NAME=value` for each secret, which only its owner may read."""

    source = "file"

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    async def get(self, name: str) -> Secret | None:
        """Return the secret of a line."""
        value = (await asyncio.to_thread(self._read)).get(name)
        return Secret(value) if value is not None else None

    def _read(self) -> dict[str, str]:
        text = _content(self._path, _LARGEST_FILE, is_private=True)
        found: dict[str, str] = {}
        for number, line in enumerate((text or "").replace("\r\n", "\n").split("\n"), 1):
            if not line.strip() or line.startswith("#"):
                continue
            name, equals, value = line.partition("=")
            if not equals or not is_secret_name(name):
                raise UnusableSecrets(f"line {number} of `{self._path}` is not `NAME=value`")
            if name in found:
                raise UnusableSecrets(f"line {number} of `{self._path}` repeats `{name}`")
            found[name] = value
        return found


class SecretsDirectory:
    """A directory with a file for each secret, which has its name and its value."""

    source = "directory"

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    async def get(self, name: str) -> Secret | None:
        """Return the content of a file, without a line break at its end."""
        text = await asyncio.to_thread(_content, self._path / name, _LARGEST_VALUE, is_private=False)
        return Secret(text.removesuffix("\n").removesuffix("\r")) if text is not None else None


def _content(path: Path, most: int, *, is_private: bool) -> str | None:
    """Return the text of a file, or None if there is none. What is checked is what was opened."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        if is_private:
            raise UnusableSecrets(f"`{path}` does not exist") from None
        return None
    except OSError as error:
        raise UnusableSecrets(f"`{path}` cannot be read: {error.strerror}") from None
    try:
        _check_mode(path, os.fstat(descriptor).st_mode, is_private=is_private)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            raw = file.read(most + 1)
    except OSError as error:
        raise UnusableSecrets(f"`{path}` cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)
    if len(raw) > most:
        raise UnusableSecrets(f"`{path}` has more than {most:,} bytes")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise UnusableSecrets(f"`{path}` is not UTF-8") from None


def _check_mode(path: Path, mode: int, *, is_private: bool) -> None:
    """Refuse what is not a file, and a file for one owner that others may read or change."""
    if not stat.S_ISREG(mode):
        raise UnusableSecrets(f"`{path}` is not a file")
    if is_private and os.name == "posix" and mode & _OF_OTHERS:
        raise UnusableSecrets(f"`{path}` may be read by others (mode {stat.S_IMODE(mode):04o}): run `chmod 600 {path}`")
