"""Why a request was not done: every code that a client may meet, with its status; and how errors of ours become one."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from layover.core.definitions.problems import InvalidDefinition
from layover.errors import AnswerRefused, Closed, InvalidInput, LayoverError, LimitReached, MissingFunctions, WrongState
from layover.model.problems import ClaimHolder, FieldError, PointDifference, ProblemDetails, Winner
from layover.ports.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.definitions.problems import Problem

STATUS: Final[dict[str, int]] = {
    "malformed": 400,  # what was sent cannot be read
    "malformed_id": 400,
    "malformed_context_id": 400,
    "malformed_cursor": 400,
    "invalid_parameter": 400,
    "invalid_filter": 400,
    "not_answerable": 400,
    "unauthenticated": 401,
    "bad_signature": 401,
    "forbidden": 403,  # the caller has not the permission
    "cross_site": 403,  # a cookie, without what only a page of the server itself can send
    "not_allowed": 403,  # the caller is not among those who are asked
    "requester_excluded": 403,
    "user_required": 403,
    "not_found": 404,
    "unknown_workflow": 404,
    "unknown_version": 404,
    "unknown_execution": 404,
    "unknown_node": 404,
    "unknown_point": 404,
    "unknown_receipt": 404,
    "unknown_token": 404,
    "unknown_key": 404,
    "unknown_session": 404,
    "unknown_trigger": 404,
    "unknown_input": 404,
    "unknown_batch": 404,
    "unknown_breakpoint": 404,
    "unknown_delivery": 404,
    "unknown_destination": 404,
    "unknown_person": 404,
    "unknown_view": 404,
    "method_not_allowed": 405,
    "request_timeout": 408,
    "already_exists": 409,
    "already_answered": 409,
    "already_applied": 409,
    "already_decided": 409,
    "already_replied": 409,
    "ambiguous_point": 409,
    "claimed": 409,
    "decision_required": 409,
    "delivery_emptied": 409,
    "destination_exists": 409,
    "execution_closed": 409,
    "idempotency_mismatch": 409,
    "in_progress": 409,
    "limit_reached": 409,
    "managed_by_definition": 409,
    "managed_by_settings": 409,
    "missing_functions": 409,
    "no_question": 409,
    "no_requester": 409,
    "no_token": 409,
    "not_a_poll": 409,
    "not_a_schedule": 409,
    "not_final": 409,
    "not_your_turn": 409,
    "point_closed": 409,
    "snapshot_pending": 409,
    "too_many_questions": 409,
    "too_many_views": 409,
    "trigger_path_conflict": 409,
    "workflow_inactive": 409,
    "cannot_move": 409,
    "wrong_state": 409,
    "expired": 410,
    "token_used": 410,
    "point_changed": 412,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "misdirected": 421,  # the host is none of the server's names
    "beyond_max_pause": 422,
    "comment_required": 422,
    "invalid_answer": 422,
    "invalid_body": 422,
    "invalid_definition": 422,
    "invalid_input": 422,
    "payload_not_json": 422,
    "payload_reserved": 422,
    "secret_not_allowed": 422,
    "too_many_breakpoints": 422,
    "too_many_steps": 422,
    "rate_limited": 429,
    "trigger_full": 429,
    "internal": 500,
    "store_unavailable": 503,
    "too_many_connections": 503,
    "too_many_streams": 503,
    "stopping": 503,
}

# Where an error has a code of its own that clients know by another name.
_TOLD_AS: Final[dict[str, str]] = {"point_expired": "expired"}


class Refusal(LayoverError):  # noqa: N818 - it says what happened to the request
    """A request that is not done; `code` is one of those above."""

    def __init__(  # noqa: PLR0913 - each is a field of the answer
        self,
        code: str,
        message: str,
        *,
        errors: Sequence[FieldError] = (),
        current_status: str | None = None,
        winner: Winner | None = None,
        claim: ClaimHolder | None = None,
        difference: PointDifference | None = None,
        holders: Sequence[str] = (),
        execution_id: str | None = None,
        functions: Sequence[str] = (),
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.errors = tuple(errors)
        self.current_status = current_status
        self.winner = winner
        self.claim = claim
        self.difference = difference
        self.holders = tuple(holders)
        self.execution_id = execution_id
        self.functions = tuple(functions)
        self.headers = headers or {}

    @property
    def status(self) -> int:
        """The status of the answer."""
        return STATUS[self.code]

    def problem(self, request_id: str) -> ProblemDetails:
        """Return the answer."""
        retry_after = self.headers.get("retry-after")
        return ProblemDetails(
            type=f"urn:layover:problem:{self.code}",
            title=HTTPStatus(self.status).phrase,
            status=self.status,
            detail=self.message,
            code=self.code,
            request_id=request_id,
            errors=self.errors,
            current_status=self.current_status,
            winner=self.winner,
            claim=self.claim,
            difference=self.difference,
            holders=self.holders,
            execution_id=self.execution_id,
            functions=self.functions,
            retry_after=int(retry_after) if retry_after is not None else None,
        )


def refusal_of(error: LayoverError) -> Refusal | None:
    """Return an error as the client gets it; None for a fault of ours, whose text no client gets."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, StoreError | Closed):
        # What a store says may name files and hosts: that is for the log.
        stopping = isinstance(error, Closed)
        code = "stopping" if stopping else "store_unavailable"
        message = "The server is stopping." if stopping else "The database cannot be used just now; try again."
        if error.code == "full":
            message = "The disk of the database is full: nothing was written. Try again when there is room."
        return Refusal(code, message, headers={"retry-after": "1"})
    if isinstance(error, InvalidDefinition):
        return Refusal("invalid_definition", "The definition cannot be used.", errors=errors_of(error.problems))
    code = _TOLD_AS.get(error.code, error.code)
    if code not in STATUS:
        return None
    winner = error.winner if isinstance(error, AnswerRefused) else None
    claim = error.claim if isinstance(error, AnswerRefused) else None
    difference = error.difference if isinstance(error, AnswerRefused) else None
    return Refusal(
        code,
        error.message,
        errors=[FieldError(path=path, message=message) for path, message in _places(error)],
        current_status=error.current_status or None if isinstance(error, WrongState) else None,
        winner=winner if isinstance(winner, Winner) else None,
        claim=claim if isinstance(claim, ClaimHolder) else None,
        difference=difference if isinstance(difference, PointDifference) else None,
        holders=error.holders if isinstance(error, LimitReached) else (),
        execution_id=error.execution_id if isinstance(error, MissingFunctions) else None,
        functions=error.types if isinstance(error, MissingFunctions) else (),
        headers=_headers(error),
    )


def _headers(error: LayoverError) -> dict[str, str]:
    wait = error.retry_after if isinstance(error, WrongState) else None
    return {} if wait is None else {"retry-after": str(max(1, math.ceil(wait)))}


def _places(error: LayoverError) -> Sequence[tuple[str, str]]:
    return error.errors if isinstance(error, InvalidInput | AnswerRefused) else ()


def errors_of(problems: Sequence[Problem]) -> list[FieldError]:
    """Return what is wrong with a definition, as an answer lists it."""
    return [
        FieldError(
            path=one.path,
            message=one.message,
            code=one.code,
            line=one.line,
            column=one.column,
            suggestion=one.suggestion,
        )
        for one in problems
        if one.severity == "error"
    ]
