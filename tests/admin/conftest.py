"""Tests of a whole database run on every kind of it where they ask for that."""

from tests.runtime.harness import each_database, on_postgres

__all__ = ["each_database", "on_postgres"]
