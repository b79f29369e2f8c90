"""The statements of this store, each read once from the file that is named after it."""

from __future__ import annotations

from importlib.resources import files


def _read() -> dict[str, str]:
    folder = files("layover.stores.sqlite") / "sql"
    return {file.name.removesuffix(".sql"): file.read_text().strip() for file in folder.iterdir()}


SQL: dict[str, str] = _read()
