"""Opening a database only to read it: nothing is created, migrated or changed."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import msgspec

from layover.admin.addresses import without_password
from layover.bootstrap import inspectable_store
from layover.errors import LayoverError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from layover.ports.store import Inspectable


@asynccontextmanager
async def opened_to_read(db: str) -> AsyncIterator[Inspectable]:
    """Open a database to read."""
    store = inspectable_store(db)
    await store.open_to_read()
    try:
        with readable(db):
            yield store
    finally:
        await store.close()


@contextmanager
def readable(db: str) -> Iterator[None]:
    """Raise LayoverError (`unreadable`) for a record that cannot be decoded."""
    try:
        yield
    except msgspec.MsgspecError as error:
        raise LayoverError(f"{without_password(db)}: a record cannot be read: {error}", code="unreadable") from error
