"""Looks for planted values in everything that an engine leaves behind, in every form that they may have."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from tests.runtime.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

KEY = 'pl4nted/s3cr3t +"q\\z%'
PIN = "8675309421"
PASSWORD = "pl4nted=pässwörd&<more>"  # noqa: S105 - to be looked for
HOOK = "http://127.0.0.1:1/hook/pl4nted-t0ken?sig=a+b"
VALUES = (KEY, PIN, PASSWORD, HOOK)


def forms_of(value: str) -> Iterator[str]:
    """Return the forms of a value; those in base64 without the characters that depend on what is around it."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield json.dumps(json.dumps(value))[3:-3]
    yield quote(value)
    yield quote(value, safe="")
    yield quote_plus(value)
    yield value.encode().hex()
    for write in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            yield write(b"x" * before + value.encode()).decode()[before and before + 1 :].rstrip("=")[:-1]


FORMS = tuple({form for value in VALUES for form in forms_of(value)})


def found_in(text: str | bytes) -> list[str]:
    """Return the planted forms that a text has."""
    raw = text.encode() if isinstance(text, str) else text
    return [form for form in FORMS if form.encode() in raw]


def found_in_tables(address: str) -> dict[str, list[str]]:
    """Return the planted forms that tables have, packed or not."""
    tables = Tables(address)
    return {
        name: found
        for name in tables.names()
        if (found := _found_in_rows(tables.rows(f"SELECT * FROM {name}")))  # noqa: S608 - a name of ours
    }


def all_rows(address: str) -> list[tuple[object, ...]]:
    """Return what is in all tables."""
    tables = Tables(address)
    return [row for name in tables.names() for row in tables.rows(f"SELECT * FROM {name}")]  # noqa: S608 - of ours


def found_in_files(folder: Path) -> dict[str, list[str]]:
    """Return the planted forms that the files of a folder have."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {file.name: found for file in files if (found := found_in(file.read_bytes()))}


def _found_in_rows(rows: Iterable[tuple[object, ...]]) -> list[str]:
    return [form for row in rows for cell in row for form in _found_in_cell(cell)]


def _found_in_cell(cell: object) -> list[str]:
    if isinstance(cell, bytes):
        try:
            return [*found_in(cell), *found_in(zlib.decompress(cell))]
        except zlib.error:
            return found_in(cell)
    return found_in(str(cell))
