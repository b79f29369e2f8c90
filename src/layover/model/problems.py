"""Why a request was not done."""

from __future__ import annotations

from layover.core.moments import Moment
from layover.model.shared import Resource, Value


class FieldError(Resource, frozen=True, kw_only=True, omit_defaults=True):
    """Something wrong at one place of what was sent; of a definition, also what and on which line."""

    path: str
    message: str
    code: str | None = None
    line: int | None = None
    column: int | None = None
    suggestion: str | None = None


class Winner(Resource, frozen=True, kw_only=True):
    """Who was first."""

    by: str | None
    at: Moment | None
    answer: Value


class ClaimHolder(Resource, frozen=True, kw_only=True):
    """Who has claimed a pause point, and until when."""

    by: str
    until: Moment


class PointDifference(Resource, frozen=True, kw_only=True):
    """How a pause point differs from what a person had seen: the hashes of both, and what the point shows now."""

    seen: str
    now: str
    view: Value


class ProblemDetails(Resource, frozen=True, kw_only=True, omit_defaults=True):
    """Why a request was not done (RFC 9457): `code` is stable, `detail` is for people."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: tuple[FieldError, ...] = ()
    current_status: str | None = None
    winner: Winner | None = None
    claim: ClaimHolder | None = None
    holders: tuple[str, ...] = ()
    execution_id: str | None = None
    functions: tuple[str, ...] = ()
    retry_after: int | None = None
    difference: PointDifference | None = None
