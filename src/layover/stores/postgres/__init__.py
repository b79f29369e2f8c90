"""The store on PostgreSQL, for many instances on many machines."""

from layover.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
