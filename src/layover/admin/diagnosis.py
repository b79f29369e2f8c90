"""Looking for what keeps a database, or the executions in it, from working; nothing is changed.

What is looked at is in `examination/`, a file for each place where things go wrong. Every finding that is not `ok` says
what to do about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.admin.addresses import file_of, without_password
from layover.admin.examination.database import examine_database, examine_file, examine_library
from layover.admin.examination.executions import examine_executions
from layover.admin.examination.settings import examine_settings
from layover.api.access.config import InvalidSetting
from layover.config.configuration import configure
from layover.model.diagnosis import Diagnosis, Finding, diagnosis_of
from layover.runtime.examination.machine import examine_machine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from layover.nodes.registry import AnyFunction

_DAMAGED = "`layover verify` tells what is damaged; restore a backup if that finds something, otherwise report this."
_DENIED = "Let this user read and write the file and its folder (chown, chmod), or run it as the user of the instances."
_HOW_TO_SET = "Correct it; `layover settings --help` lists all settings."


async def doctor(
    db: str | None = None, *, nodes: Iterable[AnyFunction] | None = None, config: str | None = None
) -> Diagnosis:
    """Examine the settings, this machine, a database and its executions; nothing is changed.

    Without `db`, the database is that of the settings, from the environment or the file `config`. With `nodes`, the
    functions of this machine, it also says which of the functions that open executions may call are not among them.
    """
    try:
        configuration = configure({"db": db}, config=config)
    except InvalidSetting as error:
        wrong = [Finding(f"setting {where}", "problem", text, _HOW_TO_SET) for where, text in error.errors]
        return diagnosis_of(tuple(wrong))
    place = configuration.command.db
    kept = await examine_library(place)
    found = [*examine_settings(configuration), *examine_machine(), kept, *await _found_in("file", _file(place))]
    if kept.health != "problem" or file_of(place) is not None:  # a server out of reach is not asked more
        found += await _found_in("database", examine_database(place))
        found += await _found_in("executions", examine_executions(place, configuration.engine, nodes))
    return diagnosis_of(tuple(map(_without_password, found)))


async def _file(place: str) -> list[Finding]:
    return list(examine_file(place))


async def _found_in(what: str, looking: Awaitable[list[Finding]]) -> list[Finding]:
    """Return what an examination finds. A row or a file that was damaged may break what reads it: that is told, too."""
    try:
        return await looking
    except Exception as error:  # noqa: BLE001 - the doctor tells what is wrong, however wrong it is
        text = f"could not be examined: {type(error).__name__}: {error}"
        return [Finding(what, "problem", text, _DENIED if isinstance(error, PermissionError) else _DAMAGED)]


def _without_password(one: Finding) -> Finding:
    return Finding(one.what, one.health, without_password(one.text), without_password(one.hint))
