"""Every error that a caller may meet: the same classes and codes from an embedded engine and from a server.

`code` is stable and for machines, `message` is a sentence for people. A class stands for what a program does about it;
the code says what it was in particular (`NotFound` has `unknown_execution`, `unknown_workflow` and so on).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from layover.tracebacks import Traceback, error_summary, traceback_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AlreadyExists",
    "AnswerRefused",
    "BadUse",
    "CallbackRefused",
    "Closed",
    "ExecutionCancelled",
    "ExecutionFailed",
    "Failure",
    "InvalidDefinition",
    "InvalidInput",
    "LayoverError",
    "LimitReached",
    "MissingFunctions",
    "NotAllowed",
    "NotFound",
    "Problem",
    "RateLimited",
    "Unavailable",
    "WaitTimeout",
    "WrongState",
]

Severity = Literal["error", "warning"]
Places = tuple[tuple[str, str], ...]  # where something is wrong, and what


class Failure(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What went wrong in an execution: with a node, or with all of it.

    The `traceback` is for users with the permission `execution:debug`, where one execution or its nodes are read.
    """

    code: str
    message: str
    type: str = ""
    retryable: bool = True
    attempt: int = 0
    context_id: str = ""
    status: int | None = None
    details: Any = None
    traceback: Traceback | None = None

    def summary(self) -> str:
        """Return the error in a line: its type, and its message."""
        return error_summary(self.type, self.message) or self.code

    def formatted(self) -> str:
        """Return the error as Python prints one: with the frames of its traceback, if that is known."""
        return "\n".join(traceback_lines(self.type or self.code, self.message, self.traceback or Traceback()))


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One problem of a definition: a stable code, its position, and a sentence that says what to do."""

    code: str
    path: str
    message: str
    line: int | None = None
    column: int | None = None
    suggestion: str | None = None
    severity: Severity = "error"

    def __str__(self) -> str:
        where = f"{self.line}:{self.column}" if self.line is not None else self.path
        return f"{where}: {self.message} [{self.code}]"


class LayoverError(Exception):
    """The root of all errors that Layover raises on purpose."""

    code: str = "error"
    request_id: str | None = None  # by which the log of a server knows the request

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class NotFound(LayoverError):  # noqa: N818 - it says what happened
    """What was named does not exist."""

    code = "not_found"


class InvalidInput(LayoverError):  # noqa: N818 - it says what the input is
    """A value that is not allowed; `errors` are the places, each with what is wrong there."""

    code = "invalid_input"

    def __init__(self, message: str, errors: Places = (), *, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.errors = errors


class InvalidDefinition(LayoverError):  # noqa: N818 - reads as what it says where it is caught
    """A definition that cannot be used; `problems` are all that is wrong with it."""

    code = "invalid_definition"

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class AlreadyExists(LayoverError):  # noqa: N818 - it says what the id does
    """The id or the key is in use: `idempotency_mismatch` is a key that was used with another input."""

    code = "already_exists"


class WrongState(LayoverError):  # noqa: N818 - it says what is wrong
    """Something that cannot be done in the state that there is; `current_status` is that.

    If it can be done after a while, `retry_after` is how many seconds to wait.
    """

    code = "wrong_state"

    def __init__(self, message: str, status: str, *, code: str | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, code=code)
        self.current_status = status
        self.retry_after = retry_after


class AnswerRefused(LayoverError):  # noqa: N818 - it says what happened to the answer
    """An answer that was not taken; the point is as it was. `winner` is who answered before, if that is why.

    `claim` says who has claimed the point, and until when, if that is why.
    `difference` is how the point differs from what the person had seen (`point_changed`).
    """

    code = "answer_refused"

    def __init__(
        self,
        code: str,
        message: str,
        errors: Places = (),
        winner: Any = None,
        difference: Any = None,
        claim: Any = None,
    ) -> None:
        super().__init__(message, code=code)
        self.errors = errors
        self.winner = winner
        self.difference = difference
        self.claim = claim


class CallbackRefused(LayoverError):  # noqa: N818 - it says what happened
    """A reply that nothing waits for: its token is unknown, was used, or belongs to something that is over."""

    code = "callback_refused"


class LimitReached(LayoverError):  # noqa: N818 - it says what happened
    """The concurrency limit is reached and the workflow rejects one more; `holders` are the executions that run."""

    code = "limit_reached"

    def __init__(self, message: str, holders: Sequence[str] = (), *, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.holders = tuple(holders)


class NotAllowed(LayoverError):  # noqa: N818 - it says what it is
    """The user lacks a permission (`forbidden`), is not among those who are asked, or is not known at all.

    `secret_not_allowed` is a workflow that declares a secret which the settings do not grant to it.
    """

    code = "forbidden"


class RateLimited(LayoverError):  # noqa: N818 - it says what the caller is
    """Too many requests; `retry_after` is how many seconds to wait."""

    code = "rate_limited"

    def __init__(self, message: str, retry_after: float | None = None, *, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after = retry_after


class Unavailable(LayoverError):  # noqa: N818 - it says what it is
    """The database or the server cannot be used just now; it is worth trying again."""

    code = "unavailable"


class Closed(LayoverError):  # noqa: N818 - it says what the door is
    """The engine or the client is not open, or was closed meanwhile."""

    code = "closed"


class BadUse(LayoverError):  # noqa: N818 - it says what it is
    """A mistake in the program that calls: what it does cannot work."""

    code = "bad_use"
    retryable = False  # of a node's function: it would come to the same again


class WaitTimeout(LayoverError, TimeoutError):  # noqa: N818 - it says what happened
    """The time to wait is over. Nothing else has changed: what was waited for goes on."""

    code = "wait_timeout"


class ExecutionFailed(LayoverError):  # noqa: N818 - it says what happened
    """An execution whose result was asked for has failed; `error` says with what.

    If the traceback of the failed attempt is known, it is a note of the exception, which Python and pytest print.
    """

    code = "execution_failed"

    def __init__(self, execution_id: str, error: Failure) -> None:
        where = f" at `{error.context_id}`" if error.context_id else ""
        super().__init__(f"The execution {execution_id} failed{where}: {error.summary()}")
        self.execution_id = execution_id
        self.error = error
        if error.traceback is not None:
            failed = f"`{error.context_id}`, attempt {error.attempt}" if error.context_id else "The execution"
            self.add_note(f"{failed}:\n{error.formatted()}")


class ExecutionCancelled(LayoverError):  # noqa: N818 - it says what happened
    """An execution whose result was asked for was cancelled."""

    code = "execution_cancelled"

    def __init__(self, execution_id: str, reason: str) -> None:
        super().__init__(f"The execution {execution_id} was cancelled: {reason}")
        self.execution_id = execution_id
        self.reason = reason


class MissingFunctions(LayoverError):  # noqa: N818 - it says what happened
    """An execution that is waited for needs functions that no engine has; it goes on when an engine has them."""

    code = "missing_functions"

    def __init__(self, execution_id: str, types: tuple[str, ...]) -> None:
        listed = ", ".join(f"`{one}`" for one in types)
        super().__init__(
            f"The execution {execution_id} waits for {'a function' if len(types) == 1 else 'functions'} that this "
            f"engine does not have, and no other runs: {listed}. Nothing is lost: it goes on once an engine has been "
            f"given {'it' if len(types) == 1 else 'them'} with `nodes=[...]`."
        )
        self.execution_id = execution_id
        self.types = types


_CODES: Final[dict[type[LayoverError], tuple[str, ...]]] = {
    NotFound: (
        "not_found",
        "unknown_batch",
        "unknown_breakpoint",
        "unknown_delivery",
        "unknown_destination",
        "unknown_execution",
        "unknown_input",
        "unknown_key",
        "unknown_session",
        "unknown_node",
        "unknown_person",
        "unknown_view",
        "unknown_point",
        "unknown_receipt",
        "unknown_trigger",
        "unknown_version",
        "unknown_workflow",
    ),
    InvalidInput: (
        "beyond_max_pause",
        "invalid_body",
        "invalid_filter",
        "invalid_input",
        "invalid_parameter",
        "malformed",
        "malformed_context_id",
        "malformed_cursor",
        "malformed_id",
        "payload_not_json",
        "payload_reserved",
        "payload_too_large",
        "too_many_breakpoints",
        "too_many_steps",
    ),
    AlreadyExists: ("already_exists", "destination_exists", "idempotency_mismatch", "trigger_path_conflict"),
    WrongState: (
        "cannot_move",
        "delivery_emptied",
        "execution_closed",
        "managed_by_definition",
        "managed_by_settings",
        "no_token",
        "not_a_poll",
        "not_a_schedule",
        "not_final",
        "snapshot_pending",
        "workflow_inactive",
        "wrong_state",
    ),
    AnswerRefused: (
        "already_answered",
        "already_applied",
        "already_decided",
        "already_replied",
        "ambiguous_point",
        "claimed",
        "comment_required",
        "decision_required",
        "expired",
        "invalid_answer",
        "no_question",
        "no_requester",
        "not_answerable",
        "not_your_turn",
        "point_changed",
        "point_closed",
        "too_many_questions",
    ),
    CallbackRefused: ("callback_refused", "token_used", "unknown_token"),
    LimitReached: ("limit_reached", "too_many_views", "trigger_full"),
    NotAllowed: (
        "bad_signature",
        "forbidden",
        "not_allowed",
        "requester_excluded",
        "secret_not_allowed",
        "unauthenticated",
        "user_required",
    ),
    RateLimited: ("rate_limited",),
    Unavailable: (
        "in_progress",
        "request_timeout",
        "stopping",
        "store_unavailable",
        "timed_out",
        "too_many_connections",
        "too_many_streams",
        "unavailable",
        "unreachable",
    ),
}
_CLASSES: Final = {code: class_ for class_, codes in _CODES.items() for code in codes}


def codes() -> dict[type[LayoverError], tuple[str, ...]]:
    """Return the codes of errors by their class."""
    return dict(_CODES)


def class_of(code: str) -> type[LayoverError]:
    """Return the class of the errors that have a code."""
    return _CLASSES.get(code, LayoverError)


def error_of(  # noqa: PLR0913 - each is a field of some error
    code: str,
    message: str,
    *,
    errors: Places = (),
    current_status: str | None = None,
    winner: Any = None,
    claim: Any = None,
    difference: Any = None,
    holders: Sequence[str] = (),
    retry_after: float | None = None,
) -> LayoverError:
    """Return the error that a code stands for, with those of the fields that it has."""
    class_ = class_of(code)
    if class_ is InvalidInput:
        return InvalidInput(message, errors, code=code)
    if class_ is WrongState:
        return WrongState(message, current_status or "", code=code, retry_after=retry_after)
    if class_ is AnswerRefused:
        return AnswerRefused(code, message, errors, winner, difference, claim)
    if class_ is LimitReached:
        return LimitReached(message, holders, code=code)
    if class_ is RateLimited:
        return RateLimited(message, retry_after, code=code)
    return class_(message, code=code)
