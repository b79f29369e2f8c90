"""What can go wrong between a program and a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.errors import LayoverError

if TYPE_CHECKING:
    from layover.api.resources.problems import Problem, Winner


class ApiError(LayoverError):
    """A request that was not done: `code` is the engine's own (`wrong_state`, `unknown_execution` and so on).

    `status` is the status of the answer and `problem` all that it says; without an answer there is neither.
    """

    code = "api_error"

    def __init__(
        self, message: str, *, code: str | None = None, status: int | None = None, problem: Problem | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.status = status
        self.problem = problem

    @property
    def errors(self) -> tuple[tuple[str, str], ...]:
        """The places of what was sent that are wrong, each with what is wrong there."""
        return tuple((one.path, one.message) for one in self.problem.errors) if self.problem is not None else ()

    @property
    def current_status(self) -> str | None:
        """The status of an execution that cannot do what it was asked for."""
        return self.problem.current_status if self.problem is not None else None

    @property
    def winner(self) -> Winner | None:
        """Who had answered already, and what."""
        return self.problem.winner if self.problem is not None else None

    @property
    def holders(self) -> tuple[str, ...]:
        """The executions that run as many as may at once."""
        return tuple(self.problem.holders) if self.problem is not None else ()

    @property
    def request_id(self) -> str | None:
        """The id by which the log of the server knows the request."""
        return self.problem.request_id if self.problem is not None else None


class Unreachable(ApiError):  # noqa: N818 - it says what the server is
    """A server that cannot be reached, or has not answered in time (`timed_out`)."""

    code = "unreachable"


class NotInstalled(LayoverError):  # noqa: N818 - it says what is wrong
    """What makes requests is not installed."""

    code = "not_installed"


class ClientClosed(LayoverError):  # noqa: N818 - it says what the client is
    """The client is not open, or was closed while somebody waited for it."""

    code = "client_closed"
