"""`layover check`, `graph`, `schema`: definitions in files, without running them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.cli.exits import BAD_INPUT, DONE, Stop
from layover.cli.graph import graph_lines
from layover.cli.json_argument import STANDARD_INPUT
from layover.cli.options import Json, Nodes  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.screen import plural, print_json, say
from layover.core.definitions import DEFAULT_LIMITS, Checked, check, document, format_schema
from layover.core.plan import compile_plan

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from layover.core.definitions import Parameters
    from layover.core.definitions.read_text import Syntax

_SYNTAXES: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}

File = Annotated[str, Parameter(help="A definition in YAML or JSON; - reads standard input.")]


def check_files(*files: File, nodes: Nodes = (), json: Json = False) -> int:
    """Find everything that is wrong with definitions. Exit code 0, or 2 if there are errors.

    Without `--nodes`, node types that are not built in are only warned about; with it, the arguments that nodes give
    to functions are checked, too.
    """
    if not files:
        raise Stop("Name at least one file to check.")
    functions = _functions_named(nodes) if nodes else None
    results = [(name, checked_file(name, functions)) for name in files]
    if json:
        print_json([{"file": name, "ok": found.ok, "problems": list(found.problems)} for name, found in results])
    else:
        for name, found in results:
            print_report(name, found)
    return DONE if all(found.ok for _, found in results) else BAD_INPUT


def graph(file: File, /, *, json: Json = False) -> int:
    """Print the graph of a definition: nodes in the order in which they can run, and where each port leads."""
    found = checked_file(file)
    if not found.ok:
        print_report(file, found)
        return BAD_INPUT
    if json:
        print_json(document(found.definition, defaults=True))
        return DONE
    for line in graph_lines(compile_plan(found)):
        say(line)
    return DONE


def schema() -> int:
    """Print the JSON Schema of the definition format, for editors."""
    print_json(format_schema())
    return DONE


def checked_file(name: str, functions: Collection[str] | None = None) -> Checked:
    """Return what is found in a definition."""
    if Path(name).suffix == ".py":
        hint = (
            "Functions are given with --nodes. A workflow that is written in Python is checked by "
            "`workflow.check()`, and written as YAML by `workflow.to_yaml()`."
        )
        raise Stop(f"{name} is a Python file; a definition is YAML or JSON.", hint=hint)
    return check(_read(name), syntax=_SYNTAXES.get(Path(name).suffix, "auto"), functions=functions)


def print_report(name: str, found: Checked) -> None:
    """Print the problems of a definition with their places, or that it has none."""
    for problem in found.problems:
        where = f"{name}:{problem.line}:{problem.column}" if problem.line is not None else f"{name}: {problem.path}"
        style = "yellow" if problem.severity == "warning" else "red"
        say(f"{where}: {problem.severity}: {problem.message} [{problem.code}]", style)
    if found.ok:
        warnings = len(found.problems)
        noted = f", {plural(warnings, 'warning')}" if warnings else ""
        say(f"{name}: workflow `{found.definition.name}` is sound{noted}", "green")


def _functions_named(modules: tuple[str, ...]) -> Mapping[str, Parameters | None]:
    from layover.cli.functions import functions_of, parameters_of  # noqa: PLC0415 - only who has functions needs it

    return parameters_of(functions_of(modules))


def _read(name: str) -> bytes:
    """Return the content of a file, one byte more than is allowed at most: enough to see that it is too large."""
    most = DEFAULT_LIMITS.bytes + 1
    try:
        if name == STANDARD_INPUT:
            return sys.stdin.buffer.read(most)
        with Path(name).open("rb") as file:
            return file.read(most)
    except (OSError, ValueError) as error:  # a name with a null character is no name
        raise Stop(f"{name}: {getattr(error, 'strerror', None) or error}") from error
