"""Copying everything in one database into another, and the proof that both hold the same."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from layover.admin.addresses import address_of, file_of, without_password
from layover.admin.instances import check_unused
from layover.admin.progress import AdminProgress, ignore_progress
from layover.admin.reading import opened_to_read, readable
from layover.bootstrap import inspectable_store, living_instances, shape_of
from layover.errors import InvalidInput, WrongState
from layover.ports.errors import StoreUnavailable
from layover.runtime.maintenance import database_copy as copies
from layover.runtime.maintenance.verify import verify

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from layover.admin.progress import OnProgress
    from layover.ports.store import Inspectable
    from layover.runtime.maintenance.verify import VerifyProgress, Violation

_INSTANCE: Final = "copy"  # only one copy at a time can have this instance id


class CopyViolation(msgspec.Struct, frozen=True, kw_only=True):
    """Something that does not hold: in the `source`, in the `target`, or between them (`copy`)."""

    where: Literal["source", "target", "copy"]
    code: str
    message: str
    execution_id: str = ""


class CopyReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the source holds, how many executions were written into the target, and what does not hold afterwards."""

    dry_run: bool
    contents: copies.Tally
    written: int = 0
    violations: tuple[CopyViolation, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.violations


async def copy(
    source: str, target: str, *, resume: bool = False, dry_run: bool = False, on_progress: OnProgress | None = None
) -> CopyReport:
    """Copy everything in a database into an empty one of any kind, then compare and verify both.

    With `resume`, continue a copy that was interrupted; with `dry_run`, only count. The source is only read. No
    instance may have either of them open: WrongState, `in_use`; a target that holds something else is `not_empty`, or
    `not_a_copy`. The progress is report once before the first execution is written.
    """
    _check_apart(source, target)
    tell = on_progress or ignore_progress
    async with _source(source) as ours:
        after = await _copied_before(ours, target, tell, resume=resume)
        if dry_run:
            return CopyReport(dry_run=True, contents=await copies.count(ours, _reporter(tell)))
        async with _target(target) as theirs:
            if after == copies.CopyProgress():
                with _refused(target):
                    await copies.check_empty(theirs)  # another process may have copied into it since
            tell(AdminProgress(part="copying", executions=0))
            report = await _moved(ours, theirs, after, tell)
        await _check_unused(source, "was opened while it was copied")
        return report


async def _moved(ours: Inspectable, theirs: Inspectable, after: copies.CopyProgress, tell: OnProgress) -> CopyReport:
    written = await copies.copy(ours, theirs, after, _reporter(tell))
    compared = await copies.compare(ours, theirs, _reporter(tell))
    found = [_violation("copy", difference) for difference in compared.differences]

    def tell_verified(progress: VerifyProgress) -> None:
        tell(AdminProgress(part="verifying", executions=progress.executions, total=progress.total))

    found += [_violation("source", one) async for one in verify(ours, tell_verified)]
    found += [_violation("target", one) async for one in verify(theirs, tell_verified)]
    return CopyReport(dry_run=False, contents=compared.tally, written=written, violations=tuple(found))


async def _copied_before(ours: Inspectable, target: str, tell: OnProgress, *, resume: bool) -> copies.CopyProgress:
    """Return how much of a copy is there already; a target that cannot be copied into is not changed."""
    if (await shape_of(target)).taken is None:
        return copies.CopyProgress()
    await _check_unused(target)
    async with opened_to_read(target) as theirs:
        with _refused(target):
            if resume:
                return await copies.find_progress(ours, theirs, _reporter(tell))
            await copies.check_empty(theirs)
            return copies.CopyProgress()


@contextmanager
def _refused(target: str) -> Iterator[None]:
    """Raise WrongState for a target that cannot be copied into."""
    try:
        yield
    except copies.NotEmpty as error:
        raise WrongState(f"{without_password(target)} is not empty.", "not_empty", code="not_empty") from error
    except copies.NotACopy as error:
        text = f"{without_password(target)} is not a copy of this source: {error.message}"
        raise WrongState(text, "not_a_copy", code="not_a_copy") from error


@asynccontextmanager
async def _source(place: str) -> AsyncIterator[Inspectable]:
    """Open the source to read."""
    async with opened_to_read(place) as store:
        await _check_unused(place)
        yield store


@asynccontextmanager
async def _target(place: str) -> AsyncIterator[Inspectable]:
    """Open the target to write, as its only instance; it is created if it is not there."""
    store = inspectable_store(place)
    try:
        await store.open(_INSTANCE)
    except StoreUnavailable as error:
        if error.code != "instance_taken":
            raise
        raise _busy(place) from error
    try:
        with readable(place):
            yield store
    finally:
        await store.close()


async def _check_unused(place: str, what: str = "is in use") -> None:
    if await living_instances(place) == [_INSTANCE]:
        raise _busy(place)
    await check_unused(place, what)


def _busy(place: str) -> WrongState:
    text = f"Another copy into {without_password(place)} is running, or was until a moment ago."
    return WrongState(text, "in_use", code="copy_running")


def _check_apart(source: str, target: str) -> None:
    ours, theirs = file_of(source), file_of(target)
    same_file = ours is not None and theirs is not None and ours.resolve() == theirs.resolve()
    if same_file or address_of(source) == address_of(target):
        raise InvalidInput("The source and the target are the same database.", code="same_database")


def _reporter(tell: OnProgress) -> copies.Tell:
    def report(progress: copies.CopyStep) -> None:
        tell(AdminProgress(part=progress.part, executions=progress.executions, total=progress.total))

    return report


def _violation(where: Literal["source", "target", "copy"], one: Violation) -> CopyViolation:
    return CopyViolation(where=where, code=one.code, message=one.message, execution_id=one.execution_id)
