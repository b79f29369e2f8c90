"""Copies a whole database into another one, open executions too, and compares the two.

No engine may use either of them meanwhile. Executions are written in the order of their ids, in batches, each whole and
in one transaction; records that belong to no execution follow. So an interrupted copy is always a prefix of the source,
and can be resumed.

No instance owns an execution in the copy: those that were active are due there at once. Everything else stays the same,
also the epoch, so that the former owner of an execution can never write to it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from layover.core.input_index import read_document
from layover.errors import LayoverError
from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.moving import CopiedBatch
from layover.ports.records import CLOSED
from layover.runtime.maintenance.database_copy_shared import SHARED
from layover.runtime.maintenance.verify import Violation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from layover.ports.moving import StoredExecution
    from layover.ports.records import Version
    from layover.ports.store import Store

T = TypeVar("T")

# The most that is in memory at once, unless one execution alone is larger.
_EXECUTIONS_AT_ONCE = 200
_BYTES_AT_ONCE = 4_000_000
_MOST_DIFFERENCES = 100


class NotEmpty(LayoverError):  # noqa: N818 - it says what the target is
    """A target database that is not empty."""

    code = "not_empty"


class NotACopy(LayoverError):  # noqa: N818 - it says what the target is
    """A target database that holds something else than a prefix of the source."""

    code = "not_a_copy"


class CannotBeKept(LayoverError):  # noqa: N818 - it says what the execution is
    """An execution that the target database cannot hold."""

    code = "cannot_be_kept"


class CopyStep(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a copy: `executions` of a `total`, in this part of it."""

    part: Literal["looking", "copying", "comparing"]
    executions: int
    total: int


class CopyProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of an interrupted copy: its versions, and the last id of each kind."""

    versions: frozenset[tuple[str, int]] = frozenset()
    execution: str = ""
    shared: dict[str, str] = {}


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """The number of records in a database, by kind."""

    executions: int = 0
    open: int = 0
    events: int = 0
    points: int = 0
    commands: int = 0
    messages: int = 0
    versions: int = 0
    signals: int = 0
    rates: int = 0
    keys: int = 0
    sessions: int = 0
    workflow_statuses: int = 0
    triggers: int = 0
    trigger_inputs: int = 0
    trigger_tokens: int = 0
    trigger_events: int = 0
    destinations: int = 0
    deliveries: int = 0
    people: int = 0
    views: int = 0
    user_settings: int = 0
    definition_texts: int = 0
    batches: int = 0
    batch_items: int = 0
    other_messages: int = 0
    audit: int = 0
    seals: int = 0
    seal_keys: int = 0
    audit_documents: int = 0

    def with_executions(self, executions: Sequence[StoredExecution]) -> Tally:
        """Return the tally with some executions added."""
        return replace(
            self,
            executions=self.executions + len(executions),
            open=self.open + sum(whole.row.head.status not in CLOSED for whole in executions),
            events=self.events + sum(entry.count for whole in executions for entry in whole.entries),
            points=self.points + sum(len(whole.points) for whole in executions),
            commands=self.commands + sum(len(whole.commands) for whole in executions),
            messages=self.messages + sum(len(whole.messages) for whole in executions),
        )


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a source, and the first differences of a target."""

    tally: Tally
    differences: tuple[Violation, ...]


Tell: TypeAlias = "Callable[[CopyStep], None]"


def as_moved(whole: StoredExecution) -> StoredExecution:
    """Return an execution as it is in a copy: without an owner; a driven one is due since its driver last wrote."""
    head = whole.row.head
    if head.owner is None:
        return whole
    moments = [entry.at for entry in whole.entries[-1:]]
    moments += [command.at for command in whole.commands if command.n > head.commands_done]
    wake_at = None if head.status in CLOSED else min(moments, default=whole.row.info.created_at)
    return replace(whole, row=replace(whole.row, head=replace(head, owner=None, wake_at=wake_at)))


async def find_progress(source: Store, target: Store, tell: Tell) -> CopyProgress:
    """Return how much of the source is in the target; NotACopy if the target holds anything else."""
    known = {(one.workflow, one.number): one async for one in _versions(source)}
    versions = [one async for one in _versions(target)]
    for version in versions:
        if known.get((version.workflow, version.number)) != version:
            label = f"version {version.number} of `{version.workflow}`"
            raise NotACopy(f"The target holds {label}, which is not in the source.")
    execution, count, total = "", 0, await _count(target)
    async for ids in _batches(target):
        wanted = {whole.id: as_moved(whole) for whole in await source.database_copy.read_executions(ids)}
        for whole in await target.database_copy.read_executions(ids):
            if not _is_same(wanted.get(whole.id), whole):
                raise NotACopy(f"The target holds {whole.id}, an execution that the source lacks or has otherwise.")
        execution, count = ids[-1], count + len(ids)
        tell(CopyStep(part="looking", executions=count, total=total))
    shared: dict[str, str] = {}
    for what, one in SHARED.items():
        if last := await _last_of_first_part(one.each(source), one.each(target), one.name):
            shared[what] = last
    names = frozenset((version.workflow, version.number) for version in versions)
    return CopyProgress(versions=names, execution=execution, shared=shared)


async def check_empty(target: Store) -> None:
    """Raise NotEmpty if there is anything in a database."""
    if await target.database_copy.read_sizes("", 1) or await target.definitions.list_versions():
        raise NotEmpty("The target is not empty: copy into a new database.")
    for one in SHARED.values():
        if await one.read(target, "", 1):
            raise NotEmpty("The target is not empty: copy into a new database.")


async def copy(source: Store, target: Store, after: CopyProgress, tell: Tell) -> int:
    """Write everything into the target that is not there yet; return the number of executions written."""
    async for version in _versions(source):
        if (version.workflow, version.number) not in after.versions:
            await target.database_copy.write_batch(CopiedBatch(versions=(version,)))
    count, total = 0, await _count(source) - await _count(target)
    async for ids in _batches(source, after.execution):
        await _write_batch(target, [as_moved(whole) for whole in await source.database_copy.read_executions(ids)])
        count += len(ids)
        tell(CopyStep(part="copying", executions=count, total=total))
    for what, one in SHARED.items():
        async for page in one.pages(source, after.shared.get(what, "")):
            await target.database_copy.write_batch(one.batch(tuple(page)))
    return count


async def _write_batch(target: Store, executions: Sequence[StoredExecution]) -> None:
    try:
        await target.database_copy.write_batch(CopiedBatch(executions=tuple(executions)))
    except StoreUnavailable:
        raise
    except StoreError as error:
        if len(executions) == 1:
            raise CannotBeKept(f"The target cannot store the execution {executions[0].id}: {error.message}") from error
        for whole in executions:  # to find out which one it is
            await _write_batch(target, [whole])


async def compare(source: Store, target: Store, tell: Tell) -> Compared:
    """Compare the target with the source, after it was copied."""
    tally, total, found = Tally(), await _count(source), list[Violation]()
    async for ids in _batches(source):
        executions = await source.database_copy.read_executions(ids)
        theirs = {whole.id: whole for whole in await target.database_copy.read_executions(ids)}
        found += [_differing(whole.id) for whole in executions if not _is_same(theirs.get(whole.id), as_moved(whole))]
        tally = tally.with_executions(executions)
        tell(CopyStep(part="comparing", executions=tally.executions, total=total))
        if len(found) >= _MOST_DIFFERENCES:
            break
    else:
        if (count := await _count(target)) != tally.executions and not found:
            found.append(_differing("", f"The target holds {count:,} executions, the source {tally.executions:,}."))
    versions = [one async for one in _versions(source)]
    if versions != [one async for one in _versions(target)]:
        found.append(_differing("", "The versions of workflows differ."))
    shared = dict.fromkeys(SHARED, 0)
    for what, one in SHARED.items():
        async for ours, theirs_ in _side_by_side(one.each(source), one.each(target)):
            shared[what] += ours is not None
            if ours != theirs_:
                found.append(_differing("", one.what))
                break
    return Compared(tally=replace(tally, versions=len(versions), **shared), differences=tuple(found))


async def count(source: Store, tell: Tell) -> Tally:
    """Count the records to copy; all of them are read."""
    tally, total = Tally(), await _count(source)
    async for ids in _batches(source):
        tally = tally.with_executions(await source.database_copy.read_executions(ids))
        tell(CopyStep(part="looking", executions=tally.executions, total=total))
    versions = [one async for one in _versions(source)]
    shared = {what: sum([len(page) async for page in one.pages(source)]) for what, one in SHARED.items()}
    return replace(tally, versions=len(versions), **shared)


def _differing(execution_id: str, message: str = "The execution differs between source and target.") -> Violation:
    return Violation(code="copy_differs", message=message, execution_id=execution_id)


def _is_same(one: StoredExecution | None, other: StoredExecution) -> bool:
    """Return whether two executions are equal byte by byte, except for the indexed input.

    The log has the input as it was given; in its index, PostgreSQL orders the members in its own way.
    """
    if one is None or replace(one, input=None) != replace(other, input=None):
        return False
    return one.input == other.input or (
        one.input is not None and other.input is not None and read_document(one.input) == read_document(other.input)
    )


# Reading in order


async def _batches(store: Store, after: str = "") -> AsyncIterator[list[str]]:
    """Yield the ids of all executions after an id, in groups that fit into memory."""
    while page := await store.database_copy.read_sizes(after, _EXECUTIONS_AT_ONCE):
        ids: list[str] = []
        room = _BYTES_AT_ONCE
        for one in page:
            if ids and one.size > room:
                yield ids
                ids, room = [], _BYTES_AT_ONCE
            ids.append(one.execution_id)
            room -= one.size
        yield ids
        after = page[-1].execution_id


async def _versions(store: Store) -> AsyncIterator[Version]:
    for newest in await store.definitions.list_versions():
        for version in await store.definitions.list_versions(newest.workflow):
            yield version


async def _side_by_side(ours: AsyncIterator[T], theirs: AsyncIterator[T]) -> AsyncIterator[tuple[T | None, T | None]]:
    """Yield pairs of items at the same position; None for a side that has ended."""
    while (pair := (await anext(ours, None), await anext(theirs, None))) != (None, None):
        yield pair


async def _last_of_first_part(ours: AsyncIterator[T], theirs: AsyncIterator[T], name: Callable[[T], str]) -> str:
    """Return the name of their last item, if their items are the first of ours; else raise NotACopy."""
    last = ""
    async for one, other in _side_by_side(ours, theirs):
        if other is None:
            break
        if one != other:
            raise NotACopy(f"The target holds `{name(other)}`, which is missing or different in the source.")
        last = name(other)
    return last


async def _count(store: Store) -> int:
    return sum((await store.queries.count_by_status()).values())
