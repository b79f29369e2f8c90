"""The options that several commands have."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, NamedTuple

from cyclopts import Parameter

from layover.cli.exits import Stop
from layover.config.command_settings import CommandSettings
from layover.config.configuration import Configuration, configure

Config = Annotated[
    str | None,
    Parameter(
        name="--config",
        show_default=False,
        help="A file with settings, in place of layover.toml in the working folder. Environment: LAYOVER_CONFIG.",
    ),
]
Db = Annotated[
    str | None,
    Parameter(
        name="--db",
        show_default=False,
        help=f"The database: an address such as {CommandSettings().db} (the default) or postgresql://user@host/name, "
        "or a path. Environment: LAYOVER_DB.",
    ),
]
Url = Annotated[
    str | None,
    Parameter(
        name="--url",
        show_default=False,
        help="A server, in place of a database: its address. Environment: LAYOVER_URL.",
    ),
]
_RANK: Final = ("default", "file", "environment", "flag")


@dataclass(frozen=True)
class DatabaseOption:
    """Which database a command works on."""

    db: Db = None
    config: Config = None

    @property
    def configuration(self) -> Configuration:
        """All settings, with what the command line says."""
        return configure({"db": self.db}, config=self.config)

    @property
    def address(self) -> str:
        """The address of the database, or its path."""
        return self.configuration.command.db


@dataclass(frozen=True)
class Target:
    """Where executions are: in a database, or on a server."""

    db: Db = None
    url: Url = None
    key: Annotated[
        str | None,
        Parameter(
            name="--key",
            show_default=False,
            help="The key of a server, or @file with it; better in the environment (LAYOVER_KEY), where other users "
            "do not see it.",
        ),
    ] = field(default=None, repr=False)
    config: Config = None

    @property
    def configuration(self) -> Configuration:
        """All settings, with what the command line says."""
        return configure({"db": self.db, "url": self.url, "key": self.key}, config=self.config)

    @property
    def server(self) -> str | None:
        """The address of the server, if it is one; the command line wins over the environment."""
        found = self.configuration
        by_db, by_url = (_RANK.index(found.origin(name)) for name in ("db", "url"))
        if by_db == by_url and found.command.url is not None:
            raise Stop("Executions are in a database or on a server: give --db or --url, not both.")
        return found.command.url if by_url > by_db else None

    @property
    def database(self) -> str:
        """The address of the database, where it is one."""
        return self.configuration.command.db

    @property
    def secret(self) -> str | None:
        """The key itself."""
        key = self.configuration.command.key
        if key is None or not key.startswith("@"):
            return key
        try:
            return Path(key[1:]).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            told = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
            raise Stop(f"{self.configuration.label('key')}: {key[1:]}: {told}.") from error


HERE = Target()
At = Annotated[Target, Parameter(name="*")]
IN = DatabaseOption()
In = Annotated[DatabaseOption, Parameter(name="*")]
Limit = Annotated[int, Parameter(help="How many at most.")]
Cursor = Annotated[str | None, Parameter(help="Where to continue a list: the cursor that the end of the list names.")]
Json = Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON for machines.")]
Nodes = Annotated[
    tuple[str, ...],
    Parameter(
        name="--nodes",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="A module or .py file with the functions of the workflow; may be given several times.",
    ),
]
ExecutionName = Annotated[str, Parameter(help="The id of an execution, or its first characters (6 or more).")]
PointName = Annotated[
    str,
    Parameter(help="The id of a pause point; or an execution, if it has only one open; or EXECUTION:CONTEXT."),
]
By = Annotated[str, Parameter(name="--by", show_default=False, help="Who you are; by default your user name.")]
Roles = Annotated[
    tuple[str, ...],
    Parameter(
        name="--role",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="A role you have; may be given several times.",
    ),
]
Reason = Annotated[str, Parameter(name="--reason", show_default=False, help="Why; it stands in the log.")]


class Who(NamedTuple):
    """Who acts."""

    by: str = ""
    roles: tuple[str, ...] = ()


def acting(at: Target, by: str, roles: tuple[str, ...] = ()) -> Who:
    """Return who acts on a database; a server knows that by the key, and by nothing else."""
    if at.server is None:
        return Who(person(by), roles)
    if by or roles:
        raise Stop("A server knows who you are by your key; --by and --role are for databases.")
    return Who()


def person(by: str) -> str:
    """Return who acts: as they say, or as the machine knows them."""
    if by:
        return by
    import getpass  # noqa: PLC0415 - only who acts is asked for

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number that has no name
        return ""
