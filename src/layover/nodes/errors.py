"""What a raised error is to a workflow. Nothing about it is trusted: even its text may raise."""

from __future__ import annotations

import re

from layover.core.definitions.durations import format_duration
from layover.core.engine import commands as cmd
from layover.core.engine.events import Error
from layover.core.errors import LayoverError
from layover.nodes.callback_tokens import without_token

_LONGEST = 2_000
_CODE = re.compile(r"[!-~]{1,200}").fullmatch


def failure(node: str, attempt: int, error: BaseException, message: str) -> cmd.Fail:
    """Return a raised error as what the execution is told."""
    code = _trait(error, "code") if isinstance(error, LayoverError) else None
    status = _trait(error, "status")
    told = Error(
        code=code if isinstance(code, str) and _CODE(code) else "failed",
        type=type(error).__name__,
        message=message,
        retryable=_trait(error, "retryable") is not False,
        status=status if isinstance(status, int) and 0 <= status < 1_000 else None,
    )
    return cmd.Fail(node=node, attempt=attempt, error=told, bases=_bases(type(error)))


def silence(node: str, attempt: int, heartbeat: int) -> cmd.Fail:
    """Return what the execution is told of a call that has not given a sign of life for too long."""
    message = f"The function gave no sign of life for {format_duration(heartbeat)}."
    told = Error(code="heartbeat_timeout", type="TimeoutError", message=message)
    return cmd.Fail(node=node, attempt=attempt, error=told, bases=_bases(TimeoutError))


def message_of(error: BaseException, token: str | None = None) -> str:
    """Return the text of an error, or its type if it has none that could be kept; a token is not in it."""
    try:
        # First hidden, then cut: a token that is cut in two would not be found.
        text = str(error) if token is None else str(without_token(str(error), token))
        return text[:_LONGEST].encode(errors="backslashreplace").decode()[:_LONGEST]
    except Exception:  # noqa: BLE001 - even its text may fail
        return type(error).__name__


def _bases(kind: type[BaseException]) -> tuple[str, ...]:
    return tuple(base.__name__ for base in kind.__mro__[1:-1])


def _trait(error: BaseException, name: str) -> object:
    try:
        return getattr(error, name, None)
    except Exception:  # noqa: BLE001 - as above
        return None
