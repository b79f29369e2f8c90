"""How carefully a database keeps what is written, as far as it can be asked."""

from __future__ import annotations

from typing import NamedTuple


class Vitals(NamedTuple):
    """Settings of a database that decide whether a commit survives, and how fast it is; None where there is none."""

    journal_mode: str | None = None  # of SQLite
    log_bytes: int = 0  # not yet moved into the file, of SQLite
    fsync: bool = True
    full_page_writes: bool = True
    synchronous_commit: bool = True
    read_only: bool = False  # a standby, or a server that is set so
    jit: bool = False  # plans are compiled, which takes longer than most of our statements
    free_bytes: int | None = None  # on the disk of a file
    pooled: bool = False  # the address names a pooler, through which settings of a connection are not sent
