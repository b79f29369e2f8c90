"""What a source has returned, checked before anything of it is kept: a batch is taken as a whole, or not at all."""

from __future__ import annotations

from itertools import islice
from typing import Final, NamedTuple

import msgspec

from layover.core.payloads import plain
from layover.core.poll_cursors import encode_poll_cursor
from layover.errors import InvalidInput, LayoverError
from layover.nodes.source import Batch, Item
from layover.redaction import redact

MOST_ITEMS: Final = 1_000
MOST_BYTES: Final = 4_000_000
_LONGEST_ID: Final = 255


class BadBatch(LayoverError):  # noqa: N818 - it says what the batch is
    """What a source returned cannot be taken; its cursor stays where it was."""

    code = "bad_batch"


class CheckedItem(NamedTuple):
    """An item of a source as it is kept."""

    id: str
    data: object


class CheckedBatch(NamedTuple):
    """A batch that fits: `cursor` as it is stored, None if it stays."""

    items: tuple[CheckedItem, ...]
    cursor: bytes | None
    more: bool


def check_batch(source: str, returned: object) -> CheckedBatch:
    """Return a batch as it is kept; BadBatch if it is none, or too large."""
    if not isinstance(returned, Batch):
        raise BadBatch(f"The source `{source}` returned {type(returned).__name__}: it has to return a Batch.")
    try:
        cursor = None if returned.cursor is None else _cursor(source, returned.cursor)
        items = list(islice(returned.items, MOST_ITEMS + 1))
    except (TypeError, AttributeError) as error:
        raise BadBatch(f"The source `{source}` returned a Batch whose items are no list.") from error
    if len(items) > MOST_ITEMS:
        raise BadBatch(
            f"The source `{source}` returned more than {MOST_ITEMS:,} items: return fewer, with `more=True`."
        )
    checked: dict[str, CheckedItem] = {}  # of items that are there twice, the first counts
    size = 0
    for item in items:
        one = _checked(source, item)
        size += len(one.id) + len(msgspec.json.encode(one.data))
        if size > MOST_BYTES:
            told = f"The source `{source}` returned items of more than {MOST_BYTES:,} bytes"
            raise BadBatch(f"{told}: return fewer, with `more=True`.")
        checked.setdefault(one.id, one)
    return CheckedBatch(tuple(checked.values()), cursor, bool(returned.more))


def _cursor(source: str, cursor: object) -> bytes:
    if not isinstance(cursor, str):
        raise BadBatch(f"The source `{source}` returned a cursor that is {type(cursor).__name__}: it has to be a text.")
    try:
        return encode_poll_cursor(cursor)
    except InvalidInput as error:
        raise BadBatch(f"The source `{source}`: {error.message}") from error


def _checked(source: str, item: object) -> CheckedItem:
    if not isinstance(item, Item):
        raise BadBatch(f"The source `{source}` returned {type(item).__name__} in a Batch: items have to be an Item.")
    id_: object = item.id  # Python lets it be anything
    if not isinstance(id_, str) or not 0 < len(id_) <= _LONGEST_ID or "\0" in id_ or not _is_unicode(id_):
        raise BadBatch(
            f"The source `{source}` returned an item with the id {redact(repr(id_), 100)}: it has to be a text of 1 to "
            f"{_LONGEST_ID} characters."
        )
    try:
        return CheckedItem(id_, plain(item.data))
    except InvalidInput as error:
        raise BadBatch(f"The source `{source}` returned the item `{redact(id_, 100)}`: {error.message}") from error


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
