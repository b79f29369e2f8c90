"""Where the errors of the engine were: they are in `layover` and `layover.errors`."""

_RENAMED = {
    "EngineClosed": "`layover.Closed`",
    "InvalidArgument": "`layover.InvalidInput`, with a code",
    "InvalidFilter": "`layover.InvalidInput`, with a code",
    "UnknownExecution": "`layover.NotFound`, with a code",
    "UnknownNode": "`layover.NotFound`, with a code",
    "UnknownWorkflow": "`layover.NotFound`, with a code",
    "WorkflowInactive": "`layover.WrongState` with the code `workflow_inactive`",
}
_MOVED = (
    *("AlreadyExists", "AnswerRefused", "CallbackRefused", "ExecutionCancelled", "ExecutionFailed", "InvalidInput"),
    *("LimitReached", "MissingFunctions", "WrongState"),
)


def __getattr__(name: str) -> object:
    """Say where a name is that was here."""
    new = f"`layover.{name}`" if name in _MOVED else _RENAMED.get(name)
    if new is None:
        raise AttributeError(f"module `layover.runtime.errors` has no attribute `{name}`")
    raise ImportError(f"`layover.runtime.errors.{name}` is now {new}.", name=name)
