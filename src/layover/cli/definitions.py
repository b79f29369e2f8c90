"""`layover check` and `schema`: definitions, without running them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from msgspec.structs import replace

from layover.cli.exits import BAD_INPUT, DONE, Stop
from layover.cli.functions import functions_of, parameters_of
from layover.cli.options import Json, Nodes  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.screen import plural, print_json, say
from layover.cli.sources import distinct, sources
from layover.core.definitions import Checked, format_schema

if TYPE_CHECKING:
    from layover.cli.sources import Source
    from layover.nodes.registry import AnyFunction

_UNKNOWN = ("unknown_type", "unknown_source")  # what an instance with other functions may know

File = Annotated[
    str,
    Parameter(
        help="A definition: a YAML or JSON file, - for standard input, or a workflow in Python (MODULE:WORKFLOW, "
        "FILE.py:WORKFLOW, FILE.py)."
    ),
]


def check_files(*files: File, nodes: Nodes = (), json: Json = False) -> int:
    """Find everything that is wrong with definitions. Exit code 0, or 2 if there are errors.

    Without `--nodes`, node types that are not built in are only warned about; with it, the arguments that nodes give
    to functions are checked, too. The functions of a workflow in Python come with it, and are checked like that.
    """
    if not files:
        raise Stop("Name at least one file to check.")
    given = functions_of(nodes)
    results = [(one.name, _checked(one, given)) for name in files for one in sources(name)]
    if json:
        print_json([{"file": name, "ok": found.ok, "problems": list(found.problems)} for name, found in results])
    else:
        for name, found in results:
            print_report(name, found)
    return DONE if all(found.ok for _, found in results) else BAD_INPUT


def schema() -> int:
    """Print the JSON Schema of the definition format, for editors."""
    print_json(format_schema())
    return DONE


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


def _checked(one: Source, given: list[AnyFunction]) -> Checked:
    """Check a definition with the functions that are known; without `--nodes` there may be others."""
    if one.workflow is None:
        return one.check(parameters_of(given) if given else None)
    known = parameters_of(distinct(one.functions, given))
    found = one.check(known)
    if given or all(problem.code not in _UNKNOWN for problem in found.problems):
        return found
    unknown = [replace(problem, severity="warning") for problem in found.problems if problem.code in _UNKNOWN]
    named = (*one.workflow.node_types(), *one.workflow.source_keys())
    found = one.check({**dict.fromkeys(named), **known})
    return Checked(found.definition if found.ok else None, [*unknown, *found.problems], found.texts, found.steps)
