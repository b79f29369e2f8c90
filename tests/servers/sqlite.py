"""Empty databases on SQLite for tests: files with all tables and no rows.

Half of what it takes to open an engine on a new file is the migration. So a process migrates one file, and each test
has a copy of it. Tests of migrations begin without a file.
"""

from __future__ import annotations

import functools
from pathlib import Path
from tempfile import TemporaryDirectory

from layover.stores.sqlite.connection import connect, write_ahead
from layover.stores.sqlite.migrations import migrate


def empty_database(path: Path) -> Path:
    """Return a path, at which is an empty database if there was nothing before."""
    if not path.exists() and path.parent.is_dir():
        path.touch(0o600, exist_ok=False)  # as a store makes it
        path.write_bytes(_migrated())
    return path


@functools.cache
def _migrated() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        db = connect(path)
        migrate(db, path, 0)
        write_ahead(db, path, 1_000)
        db.close()
        return path.read_bytes()
