"""Answers to what is no request yet, or never will be: written to the connection itself, which is closed then."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from layover.api.answering import SECURITY_HEADERS
from layover.api.endpoint import request_id_of
from layover.model.shared import encode

if TYPE_CHECKING:
    from layover.api.problems import Refusal

_MEDIA_TYPE: Final = "application/problem+json"


def raw_answer(refusal: Refusal) -> bytes:
    """Return a refusal as it is sent over a connection."""
    request_id = request_id_of({})
    body = encode(refusal.problem(request_id))
    headers = {
        **SECURITY_HEADERS,
        **refusal.headers,
        "content-type": _MEDIA_TYPE,
        "content-length": str(len(body)),
        "connection": "close",
        "x-request-id": request_id,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    status = HTTPStatus(refusal.status)
    return f"HTTP/1.1 {status.value} {status.phrase}\r\n{lines}\r\n".encode("latin-1") + body
