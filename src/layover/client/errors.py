"""Where the errors of the client were: they are in `layover` and `layover.errors`."""

_RENAMED = {
    "ApiError": "`layover.LayoverError`, with a class for each kind of error in `layover.errors`",
    "ClientClosed": "`layover.Closed`",
    "NotInstalled": "`layover.BadUse`",
    "Unreachable": "`layover.Unavailable`",
}


def __getattr__(name: str) -> object:
    """Say where a name is that was here."""
    if name in _RENAMED:
        raise ImportError(f"`layover.client.errors.{name}` is now {_RENAMED[name]}.", name=name)
    raise AttributeError(f"module `layover.client.errors` has no attribute `{name}`")
