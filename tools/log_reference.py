"""Write docs/reference/logs.md from the log lines in the source: python tools/log_reference.py [--check].

What an event means is in `layover.logs.events`; at which level and with which fields it is logged is in the code.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

from layover.logs.events import EVENTS
from layover.logs.fields import parsed_template

_ROOT = Path(__file__).parents[1]
_SOURCE = _ROOT / "src" / "layover"
PAGE = _ROOT / "docs" / "reference" / "logs.md"
_LEVELS = {"exception": "error"} | {level: level for level in ("debug", "info", "warning", "error", "critical")}

HEADING = """# Log events

<!-- Written by tools/log_reference.py; change `layover/logs/events.py` or the lines themselves instead. -->

Every line that Layover logs is an event with a name and fields. A line that is written while a node function runs has
the ids of its call as well: `execution`, `workflow`, `node`, `attempt`, and `request` if a request to this instance
began the leg. [How to](../how-to/logs.md) read them and choose what is logged.

| event | level | logger | fields | meaning |
| --- | --- | --- | --- | --- |
"""


class Line(NamedTuple):
    """A place in the source that logs an event."""

    event: str
    level: str
    logger: str
    fields: tuple[str, ...]


def lines_in(source: Path = _SOURCE) -> list[Line]:
    """Return every place that logs."""
    found: list[Line] = []
    for path in sorted(source.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        logger = _logger_in(tree)
        if logger is not None:
            found += [line for node in ast.walk(tree) if (line := _line_of(node, logger)) is not None]
    return found


def _logger_in(tree: ast.Module) -> str | None:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="_log")], value=ast.Call(args=[ast.Constant(value=str(name))])):
                return name
    return None


def _line_of(node: ast.AST, logger: str) -> Line | None:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="_log"), attr=method), args=arguments):
            texts = [one.value for one in arguments if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if not texts:
                return None  # it asks whether a level is logged
            template = parsed_template(texts[0])
            if template is None:
                raise SystemExit(f"not an event with fields: {texts[0]!r}")
            return Line(template.event, _LEVELS.get(method, "varies"), logger, template.names)
    return None


def page() -> str:
    """Return the page as it should be."""
    events: dict[str, list[Line]] = {}
    for line in lines_in():
        events.setdefault(line.event, []).append(line)
    missing, gone = events.keys() - EVENTS.keys(), EVENTS.keys() - events.keys()
    if missing or gone:
        raise SystemExit(f"layover/logs/events.py lacks {sorted(missing)}, and has {sorted(gone)} which nothing logs")
    rows = [_row(event, lines) for event, lines in sorted(events.items())]
    return HEADING + "\n".join(rows) + "\n"


def _row(event: str, lines: list[Line]) -> str:
    levels = ", ".join(dict.fromkeys(line.level for line in lines))
    loggers = ", ".join(dict.fromkeys(f"`{line.logger}`" for line in lines))
    fields = ", ".join(dict.fromkeys(f"`{name}`" for line in lines for name in line.fields))
    return f"| `{event}` | {levels} | {loggers} | {fields} | {EVENTS[event]} |"


if __name__ == "__main__":
    from written import write  # beside this file, which is only on the path of a script

    write({PAGE: page()})
