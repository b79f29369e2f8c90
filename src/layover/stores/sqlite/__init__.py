"""The embedded store: one SQLite file, no server, safe with several processes on it."""

from layover.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
