"""Lists that are longer than a page: iterate over all of it, or ask for a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from layover.interface.bounds import check_number

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from layover.model.shared import Page

T = TypeVar("T")

_PAGE = 100


class Listing(Generic[T]):
    """Something to iterate over with `async for`, page by page as it is read; nothing is read before that."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[int, str | None], Awaitable[Page[T]]]) -> None:
        self._read = read

    async def page(self, limit: int = 50, cursor: str | None = None) -> Page[T]:
        """Return one page; the `next` of a page is the `cursor` of the one behind it."""
        check_number("limit", limit, 1)
        return await self._read(limit, cursor)

    async def __aiter__(self) -> AsyncIterator[T]:
        cursor: str | None = None
        while True:
            page = await self._read(_PAGE, cursor)
            for item in page.items:
                yield item
            cursor = page.next
            if cursor is None:
                return

    async def all(self) -> list[T]:
        """Return all of it at once."""
        return [item async for item in self]
