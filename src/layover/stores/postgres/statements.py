"""The statements of this store by name, read once.

They name the schema `layover`; a store in another schema gets them with the name of that one.
"""

from __future__ import annotations

from functools import cache

from layover.stores.statements import read_family, read_statements

_PACKAGE = "layover.stores.postgres"
_AUDITED = "-- audited"  # the line where a statement writes audit entries, if it has any


@cache
def statements(schema: str) -> dict[str, str]:
    """Return all statements for a schema."""
    return {name: in_schema(text, schema) for name, text in _all_statements().items()}


def parts(family: str) -> dict[str, str]:
    """Return the parts in a file of `sql/parts`, from which longer statements are put together."""
    return read_family(_PACKAGE, f"parts/{family}.sql")


@cache
def _all_statements() -> dict[str, str]:
    found = read_statements(_PACKAGE)
    for name, part in parts("audited").items():
        found[f"{name}_audited"] = found[name].replace(_AUDITED, f",\n{part}")
    return found


def in_schema(statement: str, schema: str) -> str:
    """Return a statement for a schema."""
    return statement.replace("layover.", f'"{schema}".')
