"""The store that forgets with its process: for tests, for trying things out, and as the measure of the other stores."""

from layover.stores.memory.database import MemoryDatabase
from layover.stores.memory.store import MemoryStore

__all__ = ["MemoryDatabase", "MemoryStore"]
