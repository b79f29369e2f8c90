"""The options that several commands have, said once."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from layover.bootstrap import DEFAULT

DEFAULT_DB = DEFAULT

Db = Annotated[
    str,
    Parameter(
        name="--db",
        env_var="LAYOVER_DB",
        help="The database: an address such as sqlite:///app.db or postgresql://user@host/name, or a path.",
    ),
]
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
Reason = Annotated[str, Parameter(name="--reason", show_default=False, help="Why, for the log.")]


def person(by: str) -> str:
    """Return who acts: as they say, or as the machine knows them."""
    if by:
        return by
    import getpass  # noqa: PLC0415 - only who acts is asked for

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number that has no name
        return ""
