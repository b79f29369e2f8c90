"""What can become of a request. Texts name the method, the host and the status: all else may hold secrets."""

from __future__ import annotations

from layover.core.errors import LayoverError


class HttpError(LayoverError):
    """The root of what an `http` node fails with; what is not `retryable` would only come to the same again."""

    code = "http_error"
    retryable = True
    status: int | None = None


class HttpStatus(HttpError):  # noqa: N818 - it says what was answered
    """An answer that says that the request has failed."""

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


class HttpRefused(HttpError):  # noqa: N818 - it says what we did
    """An address that is not public, and this engine connects to no others."""

    code = "http_refused"
    retryable = False


class HttpBadRequest(HttpError):  # noqa: N818 - it says what the request is
    """A request that cannot be made."""

    code = "http_bad_request"
    retryable = False


class HttpBadAnswer(HttpError):  # noqa: N818 - it says what the answer is
    """An answer that cannot be kept: no text, not what it says it is, too large, or not HTTP at all."""

    code = "http_bad_answer"
    retryable = False


class HttpNotInstalled(HttpError):  # noqa: N818 - it says what is missing
    """The library that makes requests is missing."""

    code = "http_not_installed"
    retryable = False
