"""The fixtures that run a test on every database."""

from __future__ import annotations

from tests.runtime.harness import each_database, on_postgres

__all__ = ["each_database", "on_postgres"]
