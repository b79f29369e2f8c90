"""The settings: where they come from, and those that are allowed but ask for trouble."""

from __future__ import annotations

import stat
from collections import Counter
from typing import TYPE_CHECKING, Final

from layover.config.table import table
from layover.interface.durations import milliseconds_of
from layover.model.diagnosis import Finding, judged
from layover.runtime.examination.settings import judge_lease

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.config.configuration import Configuration

_OTHERS: Final = stat.S_IRGRP | stat.S_IROTH


def examine_settings(configuration: Configuration) -> Iterator[Finding]:
    """Tell how many settings come from where, and which of them ask for trouble."""
    origins = Counter(configuration.origin(name) for name in table())
    told = ", ".join(f"{origins[one]} by {one}" for one in ("file", "environment", "flag") if origins[one])
    yield Finding("settings", "ok", told or "all as by default")
    yield from _file(configuration)
    yield from judge_lease(milliseconds_of("lease_ttl", configuration.engine.lease_ttl))


def _file(configuration: Configuration) -> Iterator[Finding]:
    if configuration.file is None:
        return
    held = [name for name, row in table().items() if row.is_secret and configuration.origin(name) == "file"]
    db = configuration.command.db
    if configuration.origin("db") == "file" and table()["db"].show(db) != db:
        held.append("db")
    hint = ""
    if held and configuration.file.stat().st_mode & _OTHERS:
        hint = f"It holds {', '.join(held)}, and other users may read it: chmod 600 {configuration.file}"
    yield judged("settings file", str(configuration.file), hint)
