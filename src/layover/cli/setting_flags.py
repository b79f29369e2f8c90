"""The flags of settings, made from the table of all settings."""

from __future__ import annotations

from dataclasses import dataclass, fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

from cyclopts import Group, Parameter

from layover.cli.options import Config  # noqa: TC001 - cyclopts reads the annotations
from layover.config.configuration import configure
from layover.config.table import GROUPS, table

if TYPE_CHECKING:
    from layover.config.configuration import Configuration
    from layover.config.table import Row

_FIRST = 50  # behind the options of the command itself


@dataclass(frozen=True)
class SettingFlags:
    """What the command line says of settings; each group of them has a class of its own."""

    config: Config = None

    @property
    def configuration(self) -> Configuration:
        """All settings, with what the command line says."""
        given = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "config"}
        return configure(given, config=self.config)


def _flags_of(name: str, *groups: str, shown: bool = True) -> type[SettingFlags]:
    """Return a class with a flag for every setting in some groups; cyclopts reads it like one that is written out."""
    rows = [row for row in table().values() if row.group in groups and row.has_flag and row.name not in ("url", "key")]
    made = [(row.name, _annotation(row, shown=shown), None) for row in rows]
    return make_dataclass(name, made, bases=(SettingFlags,), frozen=True, namespace={"__module__": __name__})


def _annotation(row: Row, *, shown: bool) -> object:
    is_switch = isinstance(row.default, bool)
    default = row.show(row.default)
    parameter = Parameter(
        name=row.flag,
        negative=f"--no-{row.flag[2:]}" if is_switch else "",
        help=f"{row.about}.{f' Default: {default}.' if default else ''}",
        show_default=False,
        show=shown,
    )
    # Where executions are is told among the options of the command itself.
    group = Group(GROUPS[row.group], sort_key=_FIRST + list(GROUPS).index(row.group))
    grouped = Parameter() if row.group == "target" else Parameter(group=group)
    return Annotated[bool | None if is_switch else str | None, parameter, grouped]


_Run = _flags_of("RunFlags", "engine", "log", shown=False)
_Worker = _flags_of("WorkerFlags", "target", "engine", "worker", "log")
_Serve = _flags_of("ServeFlags", "target", "engine", "server", "api", "access", "log")
_All = _flags_of("AllFlags", *GROUPS)

# The defaults are of the classes themselves: once a program has loaded pydantic, cyclopts has it check that.
NO_RUN_FLAGS, NO_WORKER_FLAGS, NO_SERVE_FLAGS, NO_FLAGS = _Run(), _Worker(), _Serve(), _All()

if TYPE_CHECKING:
    RunFlags: TypeAlias = SettingFlags
    WorkerFlags: TypeAlias = SettingFlags
    ServeFlags: TypeAlias = SettingFlags
    AllFlags: TypeAlias = SettingFlags
else:
    _ANY = Parameter(name="*")
    RunFlags = Annotated[_Run, _ANY]
    WorkerFlags = Annotated[_Worker, _ANY]
    ServeFlags = Annotated[_Serve, _ANY]
    AllFlags = Annotated[_All, _ANY]
