"""The comments behind the fields of a class: they are the documentation of the fields, also for `--help`."""

from __future__ import annotations

import ast
import inspect
import textwrap


def field_comments(cls: type) -> dict[str, str]:
    """Return the fields of a class with the comments behind them; none where there is no source to read."""
    try:
        source = textwrap.dedent(inspect.getsource(cls))
    except OSError:
        return {}
    lines, found = source.splitlines(), dict[str, str]()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), end_lineno=int(line), end_col_offset=int(column)):
                behind = lines[line - 1].encode()[column:].decode()
                found[name] = behind.partition("#")[2].partition("# noqa")[0].strip()
    return found
