"""The options of a new execution, and what is written of it when it is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.definitions.durations import LONGEST_DURATION, parse_duration
from layover.core.engine import commands as cmd
from layover.core.payloads import MAX_INLINE, plain
from layover.core.signal_texts import is_writable
from layover.errors import InvalidInput, NotAllowed
from layover.ports.records import NewExecution
from layover.runtime.plans import held_because

if TYPE_CHECKING:
    from layover.runtime.plans import Startable

_MOST_PRIORITY: Final = 2**31  # a database keeps it in 32 bits


class Options(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Options of a new execution, besides its input."""

    user: str | None = None
    tags: tuple[str, ...] = ()
    priority: int = 0
    correlation_id: str | None = None
    trigger: object = None
    largest_trigger: int = MAX_INLINE  # bytes
    fork: cmd.Fork | None = None  # results that it begins with
    delay: int | str | None = None  # milliseconds, or a duration such as `1h30m`


NO_OPTIONS: Final = Options()


def creation(
    startable: Startable, execution_id: str, value: object, options: Options, *, now: int, instance: str
) -> tuple[NewExecution, cmd.Create]:
    """Return the row of a new execution and the command that creates it; refuse options that cannot be stored."""
    plan, number, held = startable
    delay = _milliseconds(options.delay) if options.delay is not None else 0
    _check(options)
    if plan.needs_requester and options.user is None:
        raise NotAllowed(
            f"`{plan.definition.name}` has an approval with `exclude_requester`, so it has to be known who starts it: "
            "start it as a user, with `Engine(user=…)`, `engine.as_user(…)` or `--by`.",
            code="user_required",
        )
    new = NewExecution(
        workflow=plan.definition.name,
        hash=plan.hash,
        created_at=now,
        priority=options.priority,
        user=options.user,
        correlation_id=options.correlation_id,
        tags=options.tags,
    )
    create = cmd.Create(
        id=execution_id,
        input=value,
        trigger=plain(options.trigger, options.largest_trigger) if options.trigger is not None else None,
        user=options.user,
        version=number,
        tags=options.tags,
        priority=options.priority,
        correlation_id=options.correlation_id,
        fork=options.fork,
        instance=instance,
        start_at=now + delay if delay else None,
        paused=held_because(held) if held is not None else "",
        paused_by=held.by or None if held is not None else None,
    )
    return new, create


def _check(options: Options) -> None:
    """Refuse what not every database could store."""
    if not -_MOST_PRIORITY <= options.priority < _MOST_PRIORITY:
        raise _refused("priority", "it is a whole number of at most 32 bits")
    if options.user is not None:
        _check_texts("user", options.user)
    if options.correlation_id is not None:
        _check_texts("correlation_id", options.correlation_id)
    if options.tags:
        _check_texts("tags", *options.tags)


def _check_texts(name: str, *texts: str) -> None:
    if not all(map(is_writable, texts)):
        raise _refused(name, "it is text without U+0000 and without half characters")


def _refused(name: str, message: str) -> InvalidInput:
    return InvalidInput(f"`{name}`: {message}.", ((name, message),))


def _milliseconds(delay: int | str) -> int:
    """Return how long to wait before the start; what lies in the past is no wait at all."""
    if not isinstance(delay, str):
        if delay > LONGEST_DURATION:
            raise InvalidInput(f"`delay`: {delay} ms is longer than a hundred years.", (("delay", "too long"),))
        return max(delay, 0)
    try:
        return parse_duration(delay)
    except ValueError as error:
        raise InvalidInput(f"`delay`: {error}.", (("delay", str(error)),)) from error
