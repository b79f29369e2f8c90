"""Addresses of databases: a path stands for the file at it, and a password is not shown."""

from __future__ import annotations

from layover.bootstrap import DEFAULT, address_of, file_of, without_password

__all__ = ["DEFAULT", "address_of", "file_of", "without_password"]
