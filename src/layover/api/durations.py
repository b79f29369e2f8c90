"""Lengths of time in bodies and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.api.problems import Refusal
from layover.core.definitions.durations import format_duration, parse_duration
from layover.core.moments import Moment
from layover.model.problems import FieldError

if TYPE_CHECKING:
    from layover.api.request import Request


def milliseconds_of(field: str, text: str | None, *, least: int = 0) -> int | None:
    """Return how long a field of the body says, in milliseconds."""
    if text is None:
        return None
    try:
        length = parse_duration(text)
    except ValueError as error:
        raise misfit(field, str(error)) from error
    if length < least:
        raise misfit(field, "it has to be longer than nothing")
    return length


def wait_of(call: Request[Any, Any], text: str | None) -> int:
    """Return how long a request waits at most, in milliseconds, as a field of the body says."""
    wait = milliseconds_of("wait", text) or 0
    longest = int(call.services.settings.longest_wait * 1000)
    if wait > longest:
        raise misfit("wait", f"At most {format_duration(longest)}.")
    return wait


def queried_wait_of(call: Request[Any, Any], text: str | None) -> int:
    """Return how long a request waits at most, in milliseconds, as a parameter says."""
    try:
        return wait_of(call, text)
    except Refusal as error:
        raise Refusal("invalid_parameter", f"wait: {error.errors[0].message}") from error


def queried_length(name: str, text: str | None) -> int | None:
    """Return how long a parameter says, in milliseconds."""
    try:
        return None if text is None else parse_duration(text)
    except ValueError as error:
        raise Refusal("invalid_parameter", f"{name}: {error}.") from error


def queried_moment(name: str, text: str | None) -> int | None:
    """Return the moment that a parameter names, in milliseconds since 1970."""
    try:
        return None if text is None else Moment.read(text).milliseconds
    except (ValueError, OverflowError) as error:
        example = "2026-11-20T08:00:00Z"
        raise Refusal("invalid_parameter", f"{name}: not a moment with a time zone, such as {example}.") from error


def misfit(field: str, message: str) -> Refusal:
    """Return the refusal of a body for what is wrong with one field."""
    return Refusal("invalid_body", "The request body is invalid.", errors=[FieldError(path=field, message=message)])
