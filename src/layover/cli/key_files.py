"""Public keys on the command line: as they are, or in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.cli.exits import Stop

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 1_000_000  # bytes of a file

PublicKeys = Annotated[
    tuple[str, ...],
    Parameter(
        name="--public",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="A public key that counts: @file with a JWK set, or the x of a JWK; may be given several times.",
    ),
]


def key_texts(given: Sequence[str]) -> list[str]:
    """Return keys as they are, those in files read."""
    return [_read(one[1:]) if one.startswith("@") else one for one in given]


def _read(path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8") as file:
            return file.read(_LONGEST)
    except (OSError, UnicodeDecodeError) as error:
        told = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise Stop(f"{path}: {told}.") from error
