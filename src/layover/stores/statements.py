"""SQL statements by name, read from one file for each family.

A family file such as `claims.sql` is a list of sections. A section begins with a header, `-- name: renew_leases`.
Comments between the header and the statement say why it is as it is; they are not sent to the database. A name is used
once in a folder, and both dialects use the same name for the same statement. The name of a write is in the plural if
PostgreSQL writes many rows with it; SQLite then runs it once for each row.
"""

from __future__ import annotations

import re
from importlib.resources import files

_HEADER = re.compile(r"--\s*([a-z_]+):\s*(.*)")
_NAME = re.compile(r"[a-z]+(_[a-z]+)*")
_COMMENT = "--"


def read_statements(package: str) -> dict[str, str]:
    """Return the statements of all families of a package, which are in its folder `sql`."""
    found: dict[str, str] = {}
    names = sorted(file.name for file in (files(package) / "sql").iterdir())
    for family in [name for name in names if name.endswith(".sql")]:
        for name, text in read_family(package, family).items():
            _add(found, name, text, family)
    return found


def read_family(package: str, family: str) -> dict[str, str]:
    """Return the statements of one file in the folder `sql` of a package."""
    return split_family((files(package) / "sql" / family).read_text(), family)


def split_family(text: str, family: str) -> dict[str, str]:
    """Return the statements of one family file; a file that does not keep to the form is refused."""
    found: dict[str, str] = {}
    name, lines = "", list[str]()
    for line in text.splitlines():
        header = _HEADER.fullmatch(line.rstrip())
        if header is None:
            lines.append(line)
            continue
        _end_section(found, name, lines, family)
        name, lines = _name_of(header, family), []
    _end_section(found, name, lines, family)
    return found


def _name_of(header: re.Match[str], family: str) -> str:
    kind, name = header.groups()
    if kind != "name":
        raise ValueError(f"{family}: `{header[0]}` is not a header; it would be `-- name: ...`.")
    if not _NAME.fullmatch(name):
        raise ValueError(f"{family}: `{name}` is not the name of a statement.")
    return str(name)


def _end_section(found: dict[str, str], name: str, lines: list[str], family: str) -> None:
    """Add the statement of a section, without the comments before it; only comments stand before the first header."""
    first = next((n for n, line in enumerate(lines) if line.strip() and not line.startswith(_COMMENT)), None)
    if name and first is None:
        raise ValueError(f"{family}: `{name}` has no statement.")
    if not name and first is not None:
        raise ValueError(f"{family}: `{lines[first]}` has no name.")
    if first is not None:
        _add(found, name, "\n".join(lines[first:]).strip(), family)


def _add(found: dict[str, str], name: str, text: str, family: str) -> None:
    if name in found:
        raise ValueError(f"{family}: there is another statement `{name}`.")
    found[name] = text
