"""Credentials that functions and servers let slip: none of them may be found anywhere afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

REGISTERED: Final = "planted-registered-value"
HOOKED: Final = "planted-customer"
AUTH: Final = "planted-auth-of-the-node"  # in the definition, and so in the database
IN_URL: Final = "planted-in-the-url"  # as well

# What is planted, and the part of it that must not be seen.
_TEXTS: Final = {
    f"lay_{'P' * 43}": "P" * 43,
    "Bearer planted-bearer-0123456789": "planted-bearer",
    "postgresql://layover:planted-dsn@db.example/app": "planted-dsn",
    "password=planted-password": "planted-password",
    "'api_key': 'planted-key',": "planted-key",
    "https://h.example/?token=planted-token&a=1": "planted-token",
    "AKIAPLANTEDPLANTED12": "AKIAPLANTED",
    "eyJwbGFudGVk.eyJwbGFudGVk.cGxhbnRlZA": "eyJwbGFudGVk",
    REGISTERED: REGISTERED,
    HOOKED: HOOKED,
    "Authorization: Basic cGxhbnRlZDpwbGFudGVk\n": "cGxhbnRlZDpwbGFudGVk",
}
PLANTED: Final = " ".join(_TEXTS)
SECRETS: Final = tuple(_TEXTS.values())


def hide_customers(text: str) -> str:
    """Mask what no pattern knows, as the redaction hook of a program does."""
    return text.replace(HOOKED, "[customer]")


def secrets_in(text: str, *more: str) -> list[str]:
    """Return the planted credentials that a text has."""
    return [secret for secret in (*SECRETS, *more) if secret in text]


def secrets_on_disk(folder: Path) -> list[str]:
    """Return the planted credentials that the files of a database have."""
    files = [file for file in folder.iterdir() if file.name.startswith("layover.db") and file.is_file()]
    assert files
    return [secret for file in files for secret in SECRETS if secret.encode() in file.read_bytes()]
