"""The errors that operations of an engine raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.errors import LayoverError

if TYPE_CHECKING:
    from layover.core.engine.events import Error


class EngineClosed(LayoverError):  # noqa: N818 - it says what the engine is
    """The engine is not open."""

    code = "engine_closed"


class UnknownWorkflow(LayoverError):  # noqa: N818 - it says what the workflow is
    """A workflow that was never registered."""

    code = "unknown_workflow"


class WorkflowInactive(LayoverError):  # noqa: N818 - it says what the workflow is
    """A workflow that is not to be started until somebody activates it."""

    code = "workflow_inactive"


class UnknownExecution(LayoverError):  # noqa: N818 - it says what the execution is
    """An execution that does not exist."""

    code = "unknown_execution"


class UnknownNode(LayoverError):  # noqa: N818 - it says what the node is
    """A node that the workflow of an execution does not have."""

    code = "unknown_node"


class AlreadyExists(LayoverError):  # noqa: N818 - it says what the id does
    """An execution with this id or key exists."""

    code = "already_exists"


class InvalidInput(LayoverError):  # noqa: N818 - it says what the input is
    """An input that does not fit the workflow's schema; `errors` are the places, each with what is wrong there."""

    code = "invalid_input"

    def __init__(self, message: str, errors: tuple[tuple[str, str], ...]) -> None:
        super().__init__(message)
        self.errors = errors


class InvalidArgument(LayoverError, ValueError):  # noqa: N818 - it says what the argument is
    """An argument that has none of the values that it may have."""

    code = "invalid_argument"


class InvalidFilter(LayoverError):  # noqa: N818 - it says what the filter is
    """A filter by which nothing can be looked for."""

    code = "invalid_filter"


class LimitReached(LayoverError):  # noqa: N818 - it says what happened
    """As many executions run as may at once, and the workflow rejects one more; `holders` are those that do."""

    code = "limit_reached"

    def __init__(self, message: str, holders: tuple[str, ...]) -> None:
        super().__init__(message)
        self.holders = holders


class TooDeep(LayoverError):  # noqa: N818 - it says what the child is
    """A child of a child of a child, without an end in sight."""

    code = "too_deep"


class CallbackRefused(LayoverError):  # noqa: N818 - it says what happened
    """A reply that nobody waits for: its token is not known, was used, or belongs to something that is over."""

    code = "callback_refused"


class WrongState(LayoverError):  # noqa: N818 - it says what is wrong
    """Something that the execution cannot do in the state that it is in."""

    code = "wrong_state"

    def __init__(self, message: str, status: str, *, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.current_status = status


class AnswerRefused(LayoverError):  # noqa: N818 - it says what happened to the answer
    """An answer that was not taken; the point is as it was."""

    code = "answer_refused"

    def __init__(self, code: str, message: str, errors: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message, code=code)
        self.errors = errors


class ExecutionFailed(LayoverError):  # noqa: N818 - it says what happened
    """An execution whose result was asked for has failed."""

    code = "execution_failed"

    def __init__(self, execution_id: str, error: Error) -> None:
        super().__init__(f"The execution {execution_id} failed: {error.message}")
        self.execution_id = execution_id
        self.error = error


class MissingFunctions(LayoverError):  # noqa: N818 - it says what happened
    """An execution that somebody waits for needs functions that nobody has; it goes on when an instance has them."""

    code = "missing_functions"

    def __init__(self, execution_id: str, types: tuple[str, ...]) -> None:
        listed = ", ".join(f"`{one}`" for one in types)
        super().__init__(
            f"The execution {execution_id} waits for {'a function' if len(types) == 1 else 'functions'} that this "
            f"engine does not have, and no other runs: {listed}. Nothing is lost: it goes on once an engine has been "
            f"given {'it' if len(types) == 1 else 'them'} with `nodes=[...]`."
        )
        self.execution_id = execution_id
        self.types = types


class ExecutionCancelled(LayoverError):  # noqa: N818 - it says what happened
    """An execution whose result was asked for was cancelled."""

    code = "execution_cancelled"
