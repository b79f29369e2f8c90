"""The statements of this store, each read once from the file that is named after it.

They name the schema `layover`; a store in another one has them with its name.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

# Where an entry of the audit log is written, by a part of the same name in `sql/audited`. Those that have none to write
# have the statement without it.
_AUDITED = "-- audited"


@cache
def statements(schema: str) -> dict[str, str]:
    """Return all statements as they read in a schema."""
    found = texts("sql")
    for name, part in texts("sql/audited").items():
        found[f"{name}_audited"] = found[name].replace(_AUDITED, f",\n{part}")
    return {name: in_schema(text, schema) for name, text in found.items()}


def texts(folder: str) -> dict[str, str]:
    """Return what is in the SQL files of a folder, by their names."""
    found = (files("layover.stores.postgres") / folder).iterdir()
    return {file.name.removesuffix(".sql"): file.read_text().strip() for file in found if file.name.endswith(".sql")}


def in_schema(statement: str, schema: str) -> str:
    """Return a statement as it reads in a schema."""
    return statement.replace("layover.", f'"{schema}".')
