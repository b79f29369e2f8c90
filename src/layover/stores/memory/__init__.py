"""The store in memory: for tests, for trying things out, and as the reference for the other stores."""

from layover.stores.memory.database import MemoryDatabase
from layover.stores.memory.store import MemoryStore

__all__ = ["MemoryDatabase", "MemoryStore"]
