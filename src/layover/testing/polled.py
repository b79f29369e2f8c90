"""Sources that a test fills by itself: what it pushes is found by the next poll."""

from __future__ import annotations

from typing import Any

from layover.nodes.source import Batch, Item, SourceFunction

_AT_ONCE = 1_000


class PushedSource:
    """A source of one test. Its cursor is the number of items that were polled."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.items: list[Item] = []
        self.polls: list[str | None] = []  # the cursor of each poll
        self.acknowledged: list[str | None] = []  # cursors, in their order
        self.raises: BaseException | None = None  # what the next polls raise, until it is None again

    def push(self, *data: object, id: str | None = None) -> None:  # noqa: A002 - as items have it
        """Add items with some data; each has its number as its id, unless one is given an id."""
        if id is not None and len(data) != 1:
            raise TypeError("An `id` is that of one item.")
        for one in data:
            self.items.append(Item(id if id is not None else str(len(self.items) + 1), one))

    def as_function(self) -> SourceFunction[..., Any]:
        """Return it as an engine polls it; the `with` of the trigger may be anything."""
        function: SourceFunction[..., Any] = SourceFunction(self._poll, self.name, {})
        function.acknowledge(self._acknowledge)
        return function

    async def _poll(self, cursor: str | None, **_with: object) -> Batch:
        self.polls.append(cursor)
        if self.raises is not None:
            raise self.raises
        begin = int(cursor or 0)
        found = self.items[begin : begin + _AT_ONCE]
        end = begin + len(found)
        return Batch(found, cursor=str(end) if found else None, more=end < len(self.items))

    async def _acknowledge(self, cursor: str | None) -> None:
        self.acknowledged.append(cursor)
