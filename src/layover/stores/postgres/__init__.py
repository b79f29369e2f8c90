"""A PostgreSQL database: many instances on many machines, one truth."""

from layover.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
