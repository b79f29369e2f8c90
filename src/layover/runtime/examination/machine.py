"""This machine: the interpreter, its clock, and how many files may be open."""

from __future__ import annotations

import platform
import sys
import time  # noqa: TID251 - the clock of the machine is what is examined
from typing import TYPE_CHECKING, Final

from layover.model.diagnosis import Finding, judged

if TYPE_CHECKING:
    from collections.abc import Iterator

_EARLIEST: Final = 1_735_689_600_000  # the beginning of 2025: a clock before it is not set
_FEW_FILES: Final = 1_024


def machine_time() -> int:
    """Return what the clock of this machine says, in milliseconds; deadlines go by that of the database."""
    return time.time_ns() // 1_000_000


def examine_machine() -> Iterator[Finding]:
    """Look at what every instance on this machine depends on."""
    yield Finding("python", "ok", platform.python_version())
    now = machine_time()
    hint = "" if now > _EARLIEST else "Set the clock: deadlines and leases depend on it."
    yield judged("clock", time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now / 1000)), hint, "problem")
    if sys.platform != "win32":
        yield _open_files()


def _open_files() -> Finding:
    import resource  # noqa: PLC0415 - only there on Unix

    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return Finding("open files", "ok", "no limit")
    hint = "Raise it (`ulimit -n 4096`, or LimitNOFILE= of a service): every connection takes a file."
    return judged("open files", f"{most:,} at once", hint if most < _FEW_FILES else "")
