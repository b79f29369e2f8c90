"""The writer's thread outlives whatever happens in it: without it nothing would ever be written again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.stores.sqlite.connection import connect
from layover.stores.sqlite.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path


async def test_an_unexpected_error_between_transactions_is_raised_and_the_next_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    writer = Writer(connect(path), path)

    def out_of_memory(_jobs: object) -> object:
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr(writer, "_together", out_of_memory)
        with pytest.raises(MemoryError):
            await writer.write(lambda db: db.execute("CREATE TABLE a (b)"))
    await writer.write(lambda db: db.execute("CREATE TABLE c (d)"))
    assert await writer.write(lambda db: list(db.execute("SELECT name FROM sqlite_schema"))) == [("c",)]
    await writer.stop()
