"""Addresses of databases: a path stands for the file at it, and a password is not shown."""

from __future__ import annotations

from layover.bootstrap import address_of, file_of
from layover.redaction import without_password

__all__ = ["address_of", "file_of", "without_password"]
