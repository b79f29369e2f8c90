"""`layover`: the commands, each a thin layer over the package."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import App, CycloptsError, CycloptsPanel, Parameter
from rich.console import Console

from layover.cli.graph import graph_lines
from layover.core.definitions import DEFAULT_LIMITS, Checked, check, document, format_schema
from layover.core.plan import compile_plan

if TYPE_CHECKING:
    from layover.core.definitions.text import Syntax

DONE = 0
BAD_INPUT = 2
STANDARD_INPUT = "<stdin>"

app = App(name="layover", help="Durable workflows whose first-class act is the pause.")
_SYNTAXES: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}
_out = Console(highlight=False, soft_wrap=True)
_err = Console(stderr=True, highlight=False)

File = Annotated[str, Parameter(help="A definition in YAML or JSON; - reads standard input.")]
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for machines.")]


class UnreadableFile(Exception):  # noqa: N818 - becomes a sentence on the terminal, nothing else
    """A file that the command line could not read, with the reason."""


@app.command(name="check")
def check_files(*files: File, json: Json = False) -> int:
    """Find everything that is wrong with definitions. Exit code 0, or 2 if there are errors."""
    if not files:
        raise UnreadableFile("Name at least one file to check.")
    results = [(name, _checked(name)) for name in files]
    if json:
        reports = [{"file": name, "ok": found.ok, "problems": list(found.problems)} for name, found in results]
        _print_json(reports)
    else:
        for name, found in results:
            _print_report(name, found)
    return DONE if all(found.ok for _, found in results) else BAD_INPUT


@app.command
def graph(file: File, *, json: Json = False) -> int:
    """Print the graph of a definition: nodes in the order in which they can run, and where each port leads."""
    found = _checked(file)
    if not found.ok:
        _print_report(file, found)
        return BAD_INPUT
    if json:
        _print_json(document(found.definition, defaults=True))
        return DONE
    for line in graph_lines(compile_plan(found)):
        _out.print(line, markup=False)
    return DONE


@app.command
def schema() -> int:
    """Print the JSON Schema of the definition format, for editors."""
    _print_json(format_schema())
    return DONE


app.command("layover.cli.verify:verify_database", name="verify")  # loaded by who uses it


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        # A bare dash would be taken for an option.
        words = [STANDARD_INPUT if word == "-" else word for word in sys.argv[1:]]
        code = app(words, error_console=_err, result_action="return_value", exit_on_error=False, print_error=True)
    except UnreadableFile as error:
        _err.print(CycloptsPanel(str(error)))
        code = BAD_INPUT
    except CycloptsError:  # it has printed itself
        code = BAD_INPUT
    sys.exit(code if isinstance(code, int) else DONE)


def _checked(name: str) -> Checked:
    return check(_read(name), syntax=_SYNTAXES.get(Path(name).suffix, "auto"))


def _read(name: str) -> bytes:
    """Return the content of a file, one byte more than is allowed at most: enough to see that it is too large."""
    most = DEFAULT_LIMITS.bytes + 1
    try:
        if name == STANDARD_INPUT:
            return sys.stdin.buffer.read(most)
        with Path(name).open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise UnreadableFile(f"{name}: {error.strerror or error}") from error


def _print_report(name: str, found: Checked) -> None:
    for problem in found.problems:
        where = f"{name}:{problem.line}:{problem.column}" if problem.line is not None else f"{name}: {problem.path}"
        style = "yellow" if problem.severity == "warning" else "red"
        _out.print(f"{where}: {problem.severity}: {problem.message} [{problem.code}]", style=style, markup=False)
    if found.ok:
        warnings = len(found.problems)
        noted = f", {warnings} warning{'s' if warnings > 1 else ''}" if warnings else ""
        _out.print(f"{name}: workflow `{found.definition.name}` is sound{noted}", style="green", markup=False)


def _print_json(value: object) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value)).decode() + "\n")
