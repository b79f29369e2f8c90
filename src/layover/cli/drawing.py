"""`layover graph`: a definition, drawn."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from cyclopts import Parameter

from layover.cli.definitions import File, print_report
from layover.cli.exits import BAD_INPUT, DONE, Stop
from layover.cli.graph import graph_lines
from layover.cli.options import Json  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.screen import note, print_json, say
from layover.cli.sources import source
from layover.core.definitions import document
from layover.core.plan import compile_plan

if TYPE_CHECKING:
    from layover.core.definitions import Checked
    from layover.core.plan import Plan

DrawingFormat: TypeAlias = Literal["text", "mermaid", "svg", "json", "definition"]
Format = Annotated[
    DrawingFormat | None,
    Parameter(
        name="--format",
        help="text (the default), a mermaid flowchart, svg, json as over HTTP, or the definition itself in its "
        "canonical form.",
    ),
]
Output = Annotated[
    Path | None,
    Parameter(
        name=["--output", "-o"],
        help="A file to write instead of standard output; one that ends in .svg, .mmd or .json says the format.",
    ),
]

_BY_SUFFIX: dict[str, DrawingFormat] = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid", ".json": "json"}


def graph(file: File, /, *, format: Format = None, output: Output = None, json: Json = False) -> int:  # noqa: A002 - the word of the field
    """Draw the graph of a definition: nodes in the order in which they can run, and where each port leads.

    `--json` is short for `--format json`. In pictures, pause points are the ones with round ends and a thick line.
    """
    checked = source(file).check()
    if not checked.ok:
        print_report(file, checked)
        return BAD_INPUT
    wanted: DrawingFormat = "json" if json else "text"
    if format is not None:
        wanted = format
    elif output is not None and not json:
        wanted = _BY_SUFFIX.get(output.suffix, "text")
    if output is None:
        _print(checked, wanted)
        return DONE
    text = StringIO()
    with redirect_stdout(text):
        _print(checked, wanted)
    try:
        output.write_text(text.getvalue(), encoding="utf-8")
    except (OSError, ValueError) as error:  # no file can have a name with a null character
        raise Stop(f"{output}: {getattr(error, 'strerror', None) or error}") from error
    note(f"wrote {output} as {wanted}")
    return DONE


def _print(checked: Checked, wanted: DrawingFormat) -> None:
    match wanted:
        case "definition":
            print_json(document(checked.definition, defaults=True))
        case "json":
            from layover.admin.definition_graph import graph_of  # noqa: PLC0415 - only who needs it loads it

            print_json(graph_of(compile_plan(checked)))
        case "text":
            for line in graph_lines(compile_plan(checked)):
                say(line)
        case "mermaid" | "svg":
            sys.stdout.writelines(f"{line}\n" for line in _picture(compile_plan(checked), wanted))


def _picture(plan: Plan, wanted: Literal["mermaid", "svg"]) -> list[str]:
    from layover.cli.diagram import diagram_of  # noqa: PLC0415 - only who needs it loads it

    diagram = diagram_of(plan)
    if wanted == "mermaid":
        from layover.cli.mermaid import mermaid_lines  # noqa: PLC0415 - as above

        return list(mermaid_lines(diagram))
    from layover.cli.layered_layout import TooLarge  # noqa: PLC0415 - as above
    from layover.cli.svg import svg_lines  # noqa: PLC0415 - as above

    try:
        return list(svg_lines(diagram))
    except TooLarge as error:
        message = "The graph is too large for a picture: its edges pass too many nodes."
        raise Stop(message, hint="--format text, mermaid and json have no such limit.") from error
