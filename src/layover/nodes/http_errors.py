"""The errors of requests. Texts name the method, the host and the status: anything else may contain secrets.

The request line and the head of the response are kept beside the text, redacted, for those who may debug.
"""

from __future__ import annotations

from layover.errors import LayoverError


class HttpError(LayoverError):
    """The root of the errors of an `http` node; one that is not `retryable` would only happen again."""

    code = "http_error"
    retryable = True
    status: int | None = None
    request = ""
    answer = ""


class HttpStatus(HttpError):  # noqa: N818 - it says what came back
    """A response with a status that means failure."""

    code = "http_status"

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class HttpUnreachable(HttpError):  # noqa: N818 - it says what the host is
    """A host that could not be reached, or a connection that broke."""

    code = "http_unreachable"


class HttpTimeout(HttpUnreachable):
    """A request that took longer than the engine waits for one."""

    code = "http_timeout"


class HttpRefused(HttpError):  # noqa: N818 - it says what was done
    """An address that is not public; this engine connects only to public ones."""

    code = "http_refused"
    retryable = False


class HttpBadRequest(HttpError):  # noqa: N818 - it says what the request is
    """A request that cannot be made."""

    code = "http_bad_request"
    retryable = False


class HttpBadAnswer(HttpError):  # noqa: N818 - it says what the answer is
    """A response that cannot be stored: not text, not of its declared type, too large, or not HTTP at all."""

    code = "http_bad_answer"
    retryable = False


class HttpNotInstalled(HttpError):  # noqa: N818 - it says what is missing
    """The library that makes requests is missing."""

    code = "http_not_installed"
    retryable = False
