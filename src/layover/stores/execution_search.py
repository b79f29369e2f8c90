"""Searches for executions: which index finds the candidates, and which of those fit the whole filter.

A store reads candidates by the index that fewest of them are in, newest first, and checks each with `fits`. So every
store finds the same ones, and a field of the filter needs no place in every statement.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from layover.ports.view_records import ExecutionFilter

if TYPE_CHECKING:
    from layover.ports.view_records import ExecutionRow

FIRST_PART, LARGEST_PART = 100, 1_000  # candidates that are read by one statement
MOST_ALIKE: Final = 20_000  # ids or keys that begin with a text; if there are more, executions are gone through
SLOW: Final = 60_000  # milliseconds: executions that took at least so long are in an index of their own
_FEWEST_OF_ID: Final = 8  # characters of an id by which it is searched for
_ID: Final = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{0,4}-?[0-9a-f]{0,4}-?[0-9a-f]{0,4}-?[0-9a-f]{0,12}")
_LAST: Final = "\U0010ffff"  # no text that begins with another one comes after it with this character
_OLDEST_ID: Final = "00000000-0000-0000-0000-000000000000"


class Candidates(NamedTuple):
    """A statement that lists candidates newest first, and the value that they share."""

    statement: str
    value: str | list[str] | None = None

    @property
    def values(self) -> tuple[object, ...]:
        """Return what the statement is asked with."""
        return () if self.value is None else (self.value,)


class AlikeCandidates(NamedTuple):
    """A statement that lists candidates newest first, those from a first to a last value, and one that counts them."""

    statement: str
    counted_by: str
    first: str
    last: str

    @property
    def values(self) -> tuple[object, ...]:
        """Return what the statements are asked with."""
        return self.first, self.last


class PartedSearch:
    """A search in parts: no statement takes long, and nothing is read twice, since the order never changes.

    A store reads `part`, newest first, and gives the rows to `take`, until there is no part any more.
    """

    def __init__(self, wanted: ExecutionFilter, limit: int) -> None:
        self._wanted, self._limit = wanted, limit
        self.found: list[ExecutionRow] = []
        self.part: ExecutionFilter | None = replace(wanted, limit=min(limit, FIRST_PART)) if limit else None

    def take(self, rows: list[ExecutionRow], fitting: list[ExecutionRow] | None = None) -> None:
        """Take the rows of a part, and those of them that fit, if the store knows more of them than the rows say."""
        wanted, part = self._wanted, self.part
        self.found += [row for row in (rows if fitting is None else fitting) if fits(row, wanted)]
        self.part = None
        if part is None or len(rows) < part.limit or len(self.found) >= self._limit:
            return
        at, id_ = age(rows[-1])
        if wanted.since is None or at >= wanted.since:
            self.part = replace(part, after=(at, id_), limit=min(4 * part.limit, LARGEST_PART))


def merged(lists: list[list[ExecutionRow]], wanted: ExecutionFilter, limit: int) -> list[ExecutionRow]:
    """Return the executions of several lists that fit, each once, newest first."""
    rows = {row.head.execution_id: row for some in lists for row in some if fits(row, wanted)}
    behind = [row for row in rows.values() if wanted.after is None or age(row) < wanted.after]
    return sorted(behind, key=age, reverse=True)[:limit]


def age(row: ExecutionRow) -> tuple[int, str]:
    """Return by what executions are ordered."""
    return row.info.created_at, row.head.execution_id


def is_search(wanted: ExecutionFilter) -> bool:
    """Return whether a filter has fields that the statements of lists do not check."""
    return (
        wanted.correlation_id is not None
        or wanted.error_code is not None
        or wanted.since is not None
        or wanted.until is not None
        or wanted.min_duration is not None
        or wanted.max_duration is not None
        or wanted.min_resumes is not None
        or wanted.resumed is not None
        or wanted.user is not None
        or wanted.hashes is not None
        or bool(wanted.on)
        or wanted.q is not None
        or wanted.terms is not None
    )


def with_tag_of(wanted: ExecutionFilter) -> ExecutionFilter:
    """Return the filter of the executions of which a searched text is a tag, as far as a list by tag checks it."""
    return ExecutionFilter(
        tag=wanted.q, where=wanted.where, conditions=wanted.conditions, after=wanted.after, limit=wanted.limit
    )


def from_the_end(wanted: ExecutionFilter) -> ExecutionFilter:
    """Return the filter with a cursor before which nothing is too new for it."""
    if wanted.until is None:
        return wanted
    end = (wanted.until, _OLDEST_ID)
    return replace(wanted, after=end if wanted.after is None else min(end, wanted.after))


def candidates_of(wanted: ExecutionFilter) -> Candidates | None:
    """Return the statement with the fewest candidates; None if a list by tag, status, workflow or age has fewer."""
    if wanted.correlation_id is not None:
        return Candidates("list_executions_of_correlation", wanted.correlation_id)
    if wanted.tag is not None:
        return None
    if wanted.error_code:
        return Candidates("list_executions_of_error", wanted.error_code)
    if wanted.status and "completed" not in wanted.status:
        return None
    if wanted.resumed or (wanted.min_resumes is not None and wanted.min_resumes > 0):
        return Candidates("list_resumed_executions")
    if wanted.min_duration is not None and wanted.min_duration >= SLOW:
        return Candidates("list_slow_executions")
    if wanted.user is not None:
        return Candidates("list_executions_of_user", wanted.user)
    return None


def alike(searched: str) -> list[AlikeCandidates]:
    """Return the statements that list what begins with a text: keys, and ids if it can be the beginning of one."""
    found = [
        AlikeCandidates("list_executions_of_correlations_from", "count_correlations_from", searched, searched + _LAST)
    ]
    digits = _digits(searched)
    if digits:
        first, last = (_written(digits.ljust(32, filler)) for filler in "0f")
        found.append(AlikeCandidates("list_executions_of_ids_from", "count_ids_from", first, last))
    return found


def fits(row: ExecutionRow, wanted: ExecutionFilter) -> bool:
    """Return whether an execution fits a filter, apart from its input, the cursor, and what it waits on."""
    head, info = row.head, row.info
    if not (
        wanted.workflow in (None, head.workflow)
        and (not wanted.status or head.status in wanted.status)
        and (wanted.tag is None or wanted.tag in info.tags)
        and wanted.parent_id in (None, info.parent_id)
    ):
        return False
    return not is_search(wanted) or (
        wanted.correlation_id in (None, info.correlation_id)
        and (wanted.error_code is None or (row.closed is not None and row.closed.error_code == wanted.error_code))
        and (wanted.since is None or info.created_at >= wanted.since)
        and (wanted.until is None or info.created_at < wanted.until)
        and (wanted.min_resumes is None or row.resume_count >= wanted.min_resumes)
        and wanted.resumed in (None, row.resume_count > 0)
        and wanted.user in (None, info.user)
        and (wanted.hashes is None or info.hash in wanted.hashes)
        and _took(row, wanted)
        and (wanted.q is None or _is_named(row, wanted.q))
    )


def _took(row: ExecutionRow, wanted: ExecutionFilter) -> bool:
    if wanted.min_duration is None and wanted.max_duration is None:
        return True
    if row.finished_at is None:
        return False
    took = row.finished_at - row.info.created_at
    return (wanted.min_duration is None or took >= wanted.min_duration) and (
        wanted.max_duration is None or took <= wanted.max_duration
    )


def _is_named(row: ExecutionRow, searched: str) -> bool:
    info = row.info
    if searched in info.tags or (info.correlation_id is not None and info.correlation_id.startswith(searched)):
        return True
    digits = _digits(searched)
    return bool(digits) and row.head.execution_id.replace("-", "").startswith(digits)


def _digits(searched: str) -> str:
    """Return the digits with which an id has to begin; none, if the text is not the beginning of an id."""
    text = searched.lower()
    return text.replace("-", "") if len(text) >= _FEWEST_OF_ID and _ID.fullmatch(text) else ""


def _written(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
