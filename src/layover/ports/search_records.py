"""The records of the search index: the terms of executions."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from layover.core.search_terms import Terms
from layover.ports.records import StoreRecord

Age: TypeAlias = tuple[int, str]  # when an execution was created, and its id


class TermCounts(NamedTuple):
    """How many terms each of some searches finds, and how many executions are not indexed."""

    found: list[int]
    unindexed: int


class ExecutionTerms(StoreRecord, frozen=True, kw_only=True):
    """The search terms of an execution as its log was up to its event `last_seq`."""

    execution_id: str
    last_seq: int
    terms: Terms
