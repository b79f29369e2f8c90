"""The options that several commands have, said once."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from layover.bootstrap import DEFAULT
from layover.cli.exits import Stop

DEFAULT_DB = DEFAULT

Db = Annotated[
    str,
    Parameter(
        name="--db",
        env_var="LAYOVER_DB",
        help="The database: an address such as sqlite:///app.db or postgresql://user@host/name, or a path.",
    ),
]


DbOrNone = Annotated[
    str | None,
    Parameter(
        name="--db",
        env_var="LAYOVER_DB",
        help=f"The database: an address such as {DEFAULT} (the default) or postgresql://user@host/name, or a path.",
    ),
]
Url = Annotated[
    str | None,
    Parameter(name="--url", env_var="LAYOVER_URL", help="A server, in place of a database: its address."),
]


@dataclass(frozen=True)
class Target:
    """Where executions are: in a database, or behind a server."""

    db: DbOrNone = None
    url: Url = None
    key: Annotated[
        str | None,
        Parameter(
            name="--key",
            env_var="LAYOVER_KEY",
            help="The key to a server: best in the environment, or @file with it; what is typed here others may see.",
        ),
    ] = field(default=None, repr=False)

    @property
    def server(self) -> str | None:
        """The address of the server, if it is one; what is said on the command line wins over the environment."""
        by_db = self.db is not None and self.db != os.environ.get("LAYOVER_DB")
        by_url = self.url is not None and self.url != os.environ.get("LAYOVER_URL")
        if by_db == by_url and self.db is not None and self.url is not None:
            raise Stop("Executions are in a database or behind a server: give --db or --url, not both.")
        return None if by_db else self.url

    @property
    def database(self) -> str:
        """The address of the database, where it is one."""
        return self.db if self.db is not None else DEFAULT_DB

    @property
    def secret(self) -> str | None:
        """The key itself."""
        if self.key is None or not self.key.startswith("@"):
            return self.key
        try:
            return Path(self.key[1:]).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            told = error.strerror if isinstance(error, OSError) else "this is no text"
            raise Stop(f"--key: {self.key[1:]}: {told}.") from error


HERE = Target()
At = Annotated[Target, Parameter(name="*")]
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
HttpPrivate = Annotated[
    bool,
    Parameter(
        name="--http-private",
        env_var="LAYOVER_HTTP_PRIVATE",
        negative="",
        show_default=False,
        help="Let `http` nodes reach addresses that are not public, such as those of this machine and its network: "
        "whoever may register workflows can then call services that trust this machine.",
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
Reason = Annotated[str, Parameter(name="--reason", show_default=False, help="Why, for the log.")]


class Who(NamedTuple):
    """Who acts, as they say."""

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
