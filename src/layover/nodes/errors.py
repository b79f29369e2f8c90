"""Errors raised by functions, as failures of their nodes. Nothing about them is trusted: even their text may raise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from layover.core.definitions.durations import format_duration
from layover.core.engine import commands as cmd
from layover.core.engine.events import Error
from layover.errors import LayoverError
from layover.nodes.callback_tokens import without_token
from layover.nodes.tracebacks import traceback_of, type_name
from layover.redaction import redact
from layover.tracebacks import Traceback

if TYPE_CHECKING:
    from layover.masking import Masker
    from layover.nodes.function import AnyFunction
    from layover.tracebacks import TracebackFrame

_LONGEST = 2_000
_LONGEST_OF_CAUSES = 300
_CODE = re.compile(r"[!-~]{1,200}").fullmatch


def failure(
    node: str,
    attempt: int,
    error: BaseException,
    *,
    token: str | None = None,
    masker: Masker | None = None,
    function: AnyFunction | None = None,
) -> cmd.Fail:
    """Return an error that a function raised as a command to the execution."""
    code = _trait(error, "code") if isinstance(error, LayoverError) else None
    status = _trait(error, "status")
    described = Error(
        code=code if isinstance(code, str) and _CODE(code) else "failed",
        type=type_name(error),
        message=message_of(error, token, masker),
        retryable=_trait(error, "retryable") is not False,
        status=status if isinstance(status, int) and 0 <= status < 1_000 else None,
    )
    traceback = traceback_of(error, function, _Short(token, masker))
    return cmd.Fail(node=node, attempt=attempt, error=described, bases=_bases(type(error)), traceback=traceback)


def heartbeat_failure(node: str, attempt: int, heartbeat: int, stood_at: tuple[TracebackFrame, ...] = ()) -> cmd.Fail:
    """Return the command for a call that has sent no heartbeat for too long, with the place where it stands."""
    message = f"The function sent no heartbeat for {format_duration(heartbeat)}."
    described = Error(code="heartbeat_timeout", type="TimeoutError", message=message)
    traceback = Traceback(module="builtins", frames=stood_at) if stood_at else None
    return cmd.Fail(node=node, attempt=attempt, error=described, bases=_bases(TimeoutError), traceback=traceback)


class _Short(NamedTuple):
    """The texts of causes and notes, as they are kept."""

    token: str | None
    masker: Masker | None

    def message(self, error: BaseException) -> str:
        """Return the message of an exception."""
        return message_of(error, self.token, self.masker, _LONGEST_OF_CAUSES)

    def text(self, text: str) -> str:
        """Return another text of it."""
        return _kept(text, self.token, self.masker, _LONGEST_OF_CAUSES)


def message_of(
    error: BaseException, token: str | None = None, masker: Masker | None = None, longest: int = _LONGEST
) -> str:
    """Return the text of an error, or its type if there is none that can be stored; without credentials."""
    try:
        return _kept(str(error), token, masker, longest)
    except BaseException:  # noqa: BLE001 - even its text may fail, with anything
        return type_name(error)


def _kept(text: str, token: str | None, masker: Masker | None, longest: int) -> str:
    """Return a text as it is stored. First hidden, then cut: a token that is cut in two would not be recognised."""
    hidden = text if token is None else str(without_token(text, token))
    if masker is not None:
        hidden = masker.text(hidden[: longest + masker.margin])
    return redact(hidden, longest).encode(errors="backslashreplace").decode()[:longest]


def _bases(kind: type[BaseException]) -> tuple[str, ...]:
    return tuple(base.__name__ for base in kind.__mro__[1:-1])


def _trait(error: BaseException, name: str) -> object:
    try:
        return getattr(error, name, None)
    except BaseException:  # noqa: BLE001 - as above
        return None
