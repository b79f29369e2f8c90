"""Finds executions by conditions: the store checks those on inputs, this module all others on replayed states.

The search index finds candidates for most conditions, and each is checked. Loading a log takes time, so one call
examines a bounded number of candidates: it returns the matches among them, and a cursor for the next call.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from layover.core.conditions import InvalidCondition, PathCondition, as_containment, holds, parse_condition
from layover.core.input_index import fault_of, read_document
from layover.core.payloads import PayloadNotJson, check_finite
from layover.core.search_terms import searches_of
from layover.errors import InvalidInput
from layover.ports.view_records import ExecutionRow
from layover.runtime.execution.replay import batches
from layover.runtime.queries.search_documents import searches_of_filter, state_document
from layover.runtime.queries.term_choice import choose_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.ports.view_records import ExecutionFilter
    from layover.runtime.instance import Instance

_MOST_LOOKED_AT, _AT_ONCE = 1_000, 100  # executions whose logs are loaded in one call, and of them at a time
_MOST_EVENTS = 200_000  # of those logs together: a few of them can be as long as all others
_MOST_CONDITIONS = 50
_ENCODER = msgspec.json.Encoder(decimal_format="number")
_log = logging.getLogger("layover")


class SearchPage(msgspec.Struct, frozen=True):
    """Matching executions, newest first, and the cursor of the next page; None on the last page."""

    rows: tuple[ExecutionRow, ...]
    after: tuple[int, str] | None = None


async def find(
    instance: Instance, wanted: ExecutionFilter, where: Mapping[str, object] | None, conditions: Sequence[str]
) -> SearchPage:
    """Find executions that fit a filter, whose input contains something, and that fulfil conditions."""
    asked = [*_of_where(where), *parsed(conditions)]
    contains, others = as_containment(asked)
    of_input = tuple(condition for condition in others if condition.path[0] == "input")
    of_state = [condition for condition in others if condition.path[0] != "input"]
    chosen = replace(wanted, where=_document_of(contains), conditions=of_input)
    if wanted.limit <= 0:
        return SearchPage(())
    searches = [search for condition in asked for search in searches_of(condition)] + [*searches_of_filter(wanted)]
    chosen = replace(chosen, terms=await choose_terms(instance.store, chosen, searches))
    if of_state:
        return await _find_by_state(instance, chosen, of_state)
    rows = await instance.store.queries.list_executions(replace(chosen, limit=chosen.limit + 1))
    listed = tuple(rows[: chosen.limit])
    return SearchPage(listed, _cursor(listed[-1]) if len(rows) > len(listed) else None)


async def _find_by_state(
    instance: Instance, wanted: ExecutionFilter, conditions: Sequence[PathCondition]
) -> SearchPage:
    found: list[ExecutionRow] = []
    after, events, left = wanted.after, _MOST_EVENTS, _MOST_LOOKED_AT
    at_once = _AT_ONCE if wanted.terms is None else min(wanted.limit, _AT_ONCE)  # of what the index finds, most fits
    while left > 0:
        page = await instance.store.queries.list_executions(replace(wanted, after=after, limit=at_once + 1))
        looked_at = _with_events(page[:at_once], events)
        left, at_once = left - at_once, _AT_ONCE
        events -= sum(row.head.last_seq + 1 for row in looked_at)
        is_left = len(page) > len(looked_at)
        fitting = await _fulfilling(instance, looked_at, conditions)
        room = wanted.limit - len(found)
        found += fitting[:room]
        if len(fitting) >= room:
            last = fitting[room - 1]
            return SearchPage(tuple(found), _cursor(last) if is_left or last is not looked_at[-1] else None)
        if not is_left:
            return SearchPage(tuple(found))
        after = _cursor(looked_at[-1])
        if events <= 0:
            break
    return SearchPage(tuple(found), after)


def _with_events(rows: Sequence[ExecutionRow], most: int) -> Sequence[ExecutionRow]:
    """Return the first executions whose logs have at most so many events together, but at least one execution."""
    for index, row in enumerate(rows):
        most -= row.head.last_seq + 1
        if most < 0:
            return rows[: max(index, 1)]
    return rows


async def _fulfilling(
    instance: Instance, rows: Sequence[ExecutionRow], conditions: Sequence[PathCondition]
) -> list[ExecutionRow]:
    """Return those of some executions whose states fulfil conditions."""
    found: list[ExecutionRow] = []
    for batch in batches(rows):
        states = await instance.store.queries.load([row.head.execution_id for row in batch])
        for row, loaded in zip(batch, states, strict=True):
            if loaded is None:
                continue  # deleted since it was listed
            try:
                state = (await instance.driver.state_of(loaded)).state
            except Exception as error:  # noqa: BLE001 - one log that cannot be read must not hide the others
                _log.exception("load_failed execution=%s error=%r", row.head.execution_id, error)
                continue
            document = state_document(state)
            if all(holds(condition, document) for condition in conditions):
                found.append(row)
            await asyncio.sleep(0)  # whatever else is to be done is not held up by a hundred logs
    return found


def parsed(conditions: Sequence[str]) -> list[PathCondition]:
    """Return conditions as they were written; InvalidInput says what is wrong with one."""
    if len(conditions) > _MOST_CONDITIONS:
        raise InvalidInput(
            f"There are {len(conditions)} conditions; at most {_MOST_CONDITIONS} can be asked for.",
            code="invalid_filter",
        )
    try:
        return [parse_condition(text) for text in conditions]
    except InvalidCondition as error:
        raise InvalidInput(error.message, code="invalid_filter") from error


def _of_where(where: Mapping[str, object] | None) -> list[PathCondition]:
    """Return what an input has to contain as a condition on it."""
    if not where:
        return []
    try:
        document = msgspec.json.encode(where)
        check_finite(where, document)
    except PayloadNotJson as error:
        raise InvalidInput(f"`where`: {error.message}", code="invalid_filter") from error
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidInput(f"`where` cannot be written as JSON: {error}.", code="invalid_filter") from error
    _check(document)
    return [PathCondition(path=("input",), op="=", value=read_document(document))]


def _document_of(contains: dict[str, object]) -> bytes | None:
    if not contains:
        return None
    document = _ENCODER.encode(contains)
    _check(document)
    return document


def _check(document: bytes) -> None:
    fault = fault_of(document)
    if fault is not None:
        raise InvalidInput(f"`where` cannot be looked for: {fault}.", code="invalid_filter")


def _cursor(row: ExecutionRow) -> tuple[int, str]:
    return row.info.created_at, row.head.execution_id
