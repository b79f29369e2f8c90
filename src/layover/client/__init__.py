"""A server, asked from another program: `layover.Client` and what is behind it."""

_RENAMED = {
    "ApiError": "`layover.LayoverError`, with a class for each kind of error in `layover.errors`",
    "AsyncClient": "`layover.Client`",
    "Client": "`layover.SyncClient`; `layover.Client` is the async one",
    "Patience": "`layover.RequestPolicy`",
    "RequestPolicy": "`layover.RequestPolicy`",
    "Unreachable": "`layover.Unavailable`",
}


def __getattr__(name: str) -> object:
    """Say where a name is that was here."""
    if name in _RENAMED:
        raise ImportError(f"`layover.client.{name}` is now {_RENAMED[name]}.", name=name)
    raise AttributeError(f"module `layover.client` has no attribute `{name}`")
