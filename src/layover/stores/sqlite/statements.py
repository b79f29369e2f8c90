"""The statements of this store by name, read once."""

from __future__ import annotations

from layover.stores.statements import read_statements

SQL = read_statements("layover.stores.sqlite")
