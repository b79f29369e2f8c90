"""Write docs/reference/errors.md from the codes in the package: python tools/errors_reference.py [--check]."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

from layover.api.problems import STATUS
from layover.errors import LayoverError, class_of, codes

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "errors.md"
HEADING = """# Error codes

<!-- Written by tools/errors_reference.py; change tools/error_codes.toml. -->

Every error has a stable `code` for programs and a `message` for people. The same code comes from an embedded engine
(`error.code`), over HTTP (`code` of the problem, with the status below) and in `layover … --json`. The class is what
Python raises; codes without one are those of a node or of an execution that failed (`error.code` of the execution), or
`LayoverError` itself. What to do when something does not go on at all: [troubleshooting](../how-to/troubleshoot.md).

Problems of a definition (`layover check`, `InvalidDefinition.problems`) come with the place and a sentence that says
what to write instead; the codes of [expressions](../expressions.md) are those of such problems, and of nodes whose
expressions fail when they run.

"""
_NOT_LISTED: Final = ("testing/",)  # errors of the test kit are told where they are
_IN_SOURCE: Final = (
    re.compile(r'\bcode\s*(?::\s*str\s*)?=\s*"(\w+)"'),
    re.compile(r'\b(?:Refusal|AnswerRefused|Refused)\(\s*"(\w+)"'),
)
# A problem is added, or ends the reading.
_IN_DEFINITIONS: Final = re.compile(
    r'\b(?:_?add|warn|unknown|add_unless_stored|bad|NotJson|StopReading|RefusedNumber)\(\s*"(\w+)"'
)


def _tables() -> dict[str, dict[str, list[str]]]:
    """Return the cause and the remedy of each code, by heading."""
    return tomllib.loads((Path(__file__).parent / "error_codes.toml").read_text(encoding="utf-8"))


TABLES: Final = _tables()


def source_codes() -> set[str]:
    """Return every code that the package can give out, as its source says."""
    package = ROOT / "src" / "layover"
    found = {code for listed in codes().values() for code in listed} | set(STATUS)
    for path in package.rglob("*.py"):
        if not str(path.relative_to(package)).startswith(_NOT_LISTED):
            text = path.read_text(encoding="utf-8")
            patterns = (*_IN_SOURCE, _IN_DEFINITIONS) if "definitions" in path.parts else _IN_SOURCE
            found |= {match[1] for pattern in patterns for match in pattern.finditer(text)}
    return found - {"null"}  # which is a value of another format


def page() -> str:
    """Return the page as it should be."""
    parts = [HEADING]
    for title, table in TABLES.items():
        parts += [f"## {title}\n\n", "| code | class | HTTP | cause | what to do |\n| --- | --- | --- | --- | --- |\n"]
        parts += [_line(code, *remedy) for code, remedy in sorted(table.items())]
        parts.append("\n")
    return "".join(parts).rstrip() + "\n"


def _line(code: str, cause: str, remedy: str) -> str:
    class_ = class_of(code)
    shown = "" if class_ is LayoverError else f"`{class_.__name__}`"
    return f"| `{code}` | {shown} | {STATUS.get(code, '')} | {cause} | {remedy} |\n"


if __name__ == "__main__":
    from written import write  # beside this file, which is only on the path of a script

    write({PAGE: page()})
