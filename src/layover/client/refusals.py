"""Why a server did not do something, as the error that an embedded engine would raise."""

from __future__ import annotations

import msgspec

from layover.core.definitions.problems import InvalidDefinition, Problem
from layover.errors import LayoverError, MissingFunctions, error_of
from layover.model.problems import ProblemDetails
from layover.model.shared import decode

_FIRST_ERROR = 400


def refusal_of(status: int, body: bytes, host: str) -> LayoverError:
    """Return the error that an answer other than the one asked for stands for."""
    try:
        problem = decode(body, ProblemDetails)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        if status < _FIRST_ERROR:
            return LayoverError(f"{host} answers with a redirect ({status}), which is not followed.", code="redirected")
        return LayoverError(f"{host} answers with {status}, and not as a server of Layover does.", code="bad_answer")
    error = _error_of(problem)
    error.request_id = problem.request_id
    return error


def _error_of(problem: ProblemDetails) -> LayoverError:
    definition = [
        Problem(
            code=one.code,
            path=one.path,
            message=one.message,
            line=one.line,
            column=one.column,
            suggestion=one.suggestion,
        )
        for one in problem.errors
        if one.code is not None  # only what is wrong in a definition has a code of its own
    ]
    if definition:
        return InvalidDefinition(definition)
    if problem.code == MissingFunctions.code:
        return MissingFunctions(problem.execution_id or "", problem.functions)
    return error_of(
        problem.code,
        problem.detail,
        errors=tuple((one.path, one.message) for one in problem.errors),
        current_status=problem.current_status,
        winner=problem.winner,
        claim=problem.claim,
        difference=problem.difference,
        holders=problem.holders,
        retry_after=problem.retry_after,
    )
