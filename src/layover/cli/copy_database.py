"""`layover copy`: everything in one database into another, and the proof that both hold the same."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from layover.bootstrap import address_of, file_of, inspectable_store, living_instances, shape_of
from layover.cli.error_messages import told
from layover.cli.exits import DONE, FAILED, WRONG_STATE, Stop
from layover.cli.options import Json  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.screen import ERR, note, plural, print_json, say, without_password
from layover.core.errors import LayoverError
from layover.ports.errors import StoreUnavailable
from layover.runtime.maintenance.database_copy import (
    CopyProgress,
    NotACopy,
    NotEmpty,
    Tally,
    begun,
    check_empty,
    compare,
    copy,
    count,
)
from layover.runtime.maintenance.verify import verify

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from layover.ports.store import Inspectable
    from layover.runtime.maintenance.database_copy import Progress
    from layover.runtime.maintenance.verify import Progress as Verified
    from layover.runtime.maintenance.verify import Violation

_BETWEEN_UPDATES = 50
_INSTANCE = "copy"  # there is one at a time, and whoever wants to use the target can see it

Source = Annotated[
    str, Parameter(help="The database to copy: an address such as sqlite:///app.db or postgresql://…, or a path.")
]
Target = Annotated[
    str, Parameter(help="Where to: another address or path, of a database that is empty or not there yet.")
]
Resume = Annotated[
    bool,
    Parameter(name="--resume", negative="", show_default=False, help="Go on with a copy that was interrupted."),
]
DryRun = Annotated[
    bool, Parameter(name="--dry-run", negative="", show_default=False, help="Only count what would be copied.")
]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not as it must be, and where: in the source, in the target, or between them."""

    where: str
    code: str
    message: str
    execution_id: str = ""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What there is in the source, how many executions were written, and what is wrong."""

    tally: Tally
    written: int = 0
    found: tuple[Found, ...] = ()


def copy_database(
    source: Source, target: Target, *, resume: Resume = False, dry_run: DryRun = False, json: Json = False
) -> int:
    """Copy everything in a database into an empty one of any kind: workflows, executions, open ones too, and signals.

    Then both are compared and verified; the exit code is 1 if something is wrong. No instance may use either of them
    meanwhile, or the exit code is 4. The source is only read. Whatever happens to a copy on its way, `--resume` goes on
    with it.
    """
    _check_apart(source, target)
    screen = _Screen(json=json)
    try:
        result = asyncio.run((_counted if dry_run else _copied)(source, target, screen, resume=resume))
    except msgspec.MsgspecError as error:
        raise Stop(f"{without_password(source)}: {error}") from error
    except KeyboardInterrupt:
        note(f"The copy is not complete. {_go_on(source, target)}", "yellow")
        raise
    finally:
        screen.end()
    _tell(result, dry_run=dry_run, json=json)
    return FAILED if result.found else DONE


async def _counted(source: str, target: str, screen: _Screen, *, resume: bool) -> Result:
    """Only look: at whether it could be copied, and at how much that would be."""
    async with _source(source) as ours:
        await _begun(ours, target, screen, resume=resume)
        return Result(tally=await count(ours, screen.tell))


async def _copied(source: str, target: str, screen: _Screen, *, resume: bool) -> Result:
    async with _source(source) as ours:
        after = await _begun(ours, target, screen, resume=resume)
        async with _target(target) as theirs:
            if after == CopyProgress():
                with _refused(target):
                    await check_empty(theirs)  # somebody else may have copied into it since
            try:
                result = await _moved(ours, theirs, after, screen)
            except LayoverError as error:
                stop = told(error)
                advice = (stop.hint,) if stop.hint else ()
                raise Stop(stop.message, stop.code, hint=_go_on(source, target), details=advice) from error
        await _check_unused(source, "was opened while it was copied")
        return result


async def _moved(ours: Inspectable, theirs: Inspectable, after: CopyProgress, screen: _Screen) -> Result:
    written = await copy(ours, theirs, after, screen.tell)
    compared = await compare(ours, theirs, screen.tell)
    found = [_found("copy", difference) for difference in compared.differences]
    for where, store in (("source", ours), ("target", theirs)):
        found += [_found(where, violation) async for violation in verify(store, screen.tell_verified)]
    return Result(tally=compared.tally, written=written, found=tuple(found))


async def _begun(ours: Inspectable, target: str, screen: _Screen, *, resume: bool) -> CopyProgress:
    """Return what of a copy is there already; nothing of a target that cannot be copied into is changed."""
    if (await shape_of(target)).taken is None:
        return CopyProgress()
    await _check_unused(target, "is in use")
    theirs = inspectable_store(target)
    await theirs.open_to_read()
    try:
        with _refused(target):
            if resume:
                return await begun(ours, theirs, screen.tell)
            await check_empty(theirs)
            return CopyProgress()
    finally:
        await theirs.close()


@contextmanager
def _refused(target: str) -> Iterator[None]:
    """Tell why a target cannot be copied into."""
    try:
        yield
    except NotEmpty as error:
        hint = "If it is a copy of this source that was interrupted, --resume goes on with it."
        raise Stop(f"{without_password(target)} is not empty.", WRONG_STATE, hint=hint) from error
    except NotACopy as error:
        text = f"{without_password(target)} is no copy of this source: {error.message}"
        raise Stop(text, WRONG_STATE, hint="Copy into an empty database.") from error


@asynccontextmanager
async def _source(place: str) -> AsyncIterator[Inspectable]:
    """Open what is copied, to read it."""
    store = inspectable_store(place)
    await store.open_to_read()
    try:
        await _check_unused(place, "is in use")
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def _target(place: str) -> AsyncIterator[Inspectable]:
    """Open what is copied into, as the only one; it is made if need be."""
    store = inspectable_store(place)
    try:
        await store.open(_INSTANCE)
    except StoreUnavailable as error:
        if error.code != "instance_taken":
            raise
        raise _busy(place) from error
    try:
        yield store
    finally:
        await store.close()


async def _check_unused(place: str, what: str) -> None:
    living = await living_instances(place)
    if living == [_INSTANCE]:
        raise _busy(place)
    if living:
        instances = f"{plural(len(living), 'instance')} of it run: {', '.join(living)}"
        raise Stop(f"{without_password(place)} {what}; {instances}.", WRONG_STATE, hint="Stop them first.")


def _busy(place: str) -> Stop:
    text = f"{without_password(place)} is being copied into, or was until a moment ago."
    return Stop(text, WRONG_STATE, hint="If that was interrupted, try again in half a minute.")


def _check_apart(source: str, target: str) -> None:
    ours, theirs = file_of(source), file_of(target)
    same_file = ours is not None and theirs is not None and ours.resolve() == theirs.resolve()
    if same_file or address_of(source) == address_of(target):
        raise Stop("The source and the target are the same database.")


def _found(where: str, violation: Violation) -> Found:
    return Found(where=where, **msgspec.structs.asdict(violation))


def _go_on(source: str, target: str) -> str:
    words = without_password(f"layover copy {source} {target} --resume")
    return f"Nothing was changed in the source; `{words}` goes on with it."


class _Screen:
    """How far it has come, for people at a terminal."""

    def __init__(self, *, json: bool) -> None:
        self._status = ERR.status("") if ERR.is_terminal and not json else None

    def tell(self, progress: Progress) -> None:
        self._show(progress.part, progress.executions, progress.total)

    def tell_verified(self, progress: Verified) -> None:
        if progress.executions % _BETWEEN_UPDATES == 1:
            self._show("verifying", progress.executions, progress.total)

    def _show(self, part: str, done: int, total: int) -> None:
        if self._status is not None:
            self._status.start()
            self._status.update(f"{part}: {done:,} of {total:,} executions")

    def end(self) -> None:
        if self._status is not None:
            self._status.stop()


def _tell(result: Result, *, dry_run: bool, json: bool) -> None:
    tally, found = result.tally, result.found
    if json:
        counts = msgspec.structs.asdict(tally)
        print_json({"dry_run": dry_run, "ok": not found, **counts, "written": result.written, "violations": found})
        return
    for one in found:
        whose = one.execution_id or "database"
        say(f"{one.where}: {whose}: {one.message} [{one.code}]", "red")
    executions = f"{plural(tally.executions, 'execution')} ({tally.open:,} open)"
    parts = [executions, plural(tally.events, "event"), plural(tally.versions, "version")]
    parts.append(plural(tally.signals, "signal"))
    parts += [plural(tally.keys, "key")] * bool(tally.keys)
    parts += [f"{tally.audit:,} audit {'entry' if tally.audit == 1 else 'entries'}"] * bool(tally.audit)
    if dry_run:
        say(f"{', '.join(parts)} would be copied")
        return
    if result.written != tally.executions:
        say(f"{plural(result.written, 'execution')} copied, the others were there")
    sum_ = plural(len(found), "violation") if found else "both sides hold the same, no violations"
    say(f"{', '.join(parts)}: {sum_}", "red" if found else "green")
