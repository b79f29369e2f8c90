"""The database: how carefully it keeps what is written, and how it stands with space and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.model.diagnosis import Finding, judged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.ports.vitals import Vitals

_LITTLE_SPACE: Final = 500_000_000
_NO_SPACE: Final = 10_000_000  # a commit and the files beside the database need some
_LONG_LOG: Final = 1_000_000_000
_SKEW: Final = 5_000  # milliseconds
READ_ONLY: Final = "Let this user write the file and its folder (chown, chmod); of a standby, name the primary."


def judge_vitals(found: Vitals) -> Iterator[Finding]:
    """Judge how carefully and how fast a database keeps what is written."""
    careless = [
        *([] if found.journal_mode in (None, "wal") else [f"journal_mode={found.journal_mode}"]),
        *([] if found.fsync else ["fsync=off"]),
        *([] if found.full_page_writes else ["full_page_writes=off"]),
        *([] if found.synchronous_commit else ["synchronous_commit=off"]),
    ]
    hint = ""
    if found.journal_mode not in (None, "wal"):
        hint = "Start an instance on it, which sets WAL mode; if it stays so, keep the file on a local disk."
    elif careless:
        hint = "Set it on: what was confirmed is lost when the server's machine crashes."
    yield judged("durability", ", ".join(careless) or "commits survive a crash", hint)
    if found.read_only:
        yield Finding("server", "problem", "only lets us read", READ_ONLY)
    if found.log_bytes > _LONG_LOG:
        hint = "End what reads the file for long (backups, `sqlite3`): until then its log cannot be emptied."
        yield Finding("write-ahead log", "warning", f"{found.log_bytes / 1e9:.1f} GB", hint)
    if found.pooled:
        hint = "Behind a pooler plans are compiled, which takes seconds: ALTER ROLE … SET jit = off;"
        yield judged("pooler", "jit is on" if found.jit else "jit is off", hint if found.jit else "")


def judge_clock(ahead: int) -> Finding:
    """Judge by how many milliseconds the clock of a database is ahead of this machine's."""
    hint = "Set both clocks by NTP: times in logs and in the database do not match." if abs(ahead) > _SKEW else ""
    return judged("clock of the database", f"{ahead:+,} ms from this machine's", hint)


def judge_space(free: int) -> Finding:
    """Judge how many bytes are free on the disk of a file."""
    hint = "" if free >= _LITTLE_SPACE else "Free some space: nothing can be written to a full disk."
    shown = f"{free / 1e9:.1f} GB free" if free >= 1e9 else f"{free / 1e6:.0f} MB free"
    return judged("disk", shown, hint, "problem" if free < _NO_SPACE else "warning")
