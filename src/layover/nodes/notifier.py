"""`@notifier`: makes a function a destination, as a webhook or a mail server is one.

    @notifier(on=["pause.opened"])
    async def tell(notification: Notification) -> None:
        await post(f"{notification.subject}: {notification.text}")

It is called at least once for each occasion, always with the same `notification.id`; when it raises, it is tried again
later. A definition or the settings can name it as `via`. With `on`, it is told of these kinds of occasions anyway.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar, overload

from layover.core.notifications import OCCASIONS
from layover.nodes.annotations import BadFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

P = ParamSpec("P")
R = TypeVar("R")


class NotifierFunction(Generic[P, R]):
    """A function as a destination: its name, the kinds of occasions that it is told of, and the function itself."""

    __name__: str

    def __init__(self, function: Callable[P, R], name: str, on: tuple[str, ...]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name
        self.on = on

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function directly."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<notifier {self.name}>"


@overload
def notifier(function: Callable[P, R], /) -> NotifierFunction[P, R]: ...


@overload
def notifier(
    *, name: str | None = None, on: Sequence[str] = ()
) -> Callable[[Callable[P, R]], NotifierFunction[P, R]]: ...


def notifier(
    function: Callable[P, R] | None = None, /, *, name: str | None = None, on: Sequence[str] = ()
) -> NotifierFunction[P, R] | Callable[[Callable[P, R]], NotifierFunction[P, R]]:
    """Make a function a destination, under its own name or another; with `on`, it is told of such occasions."""
    unknown = [one for one in on if one not in OCCASIONS]
    if isinstance(on, str) or unknown:
        raise BadFunction(f"`on` lists kinds of occasions, such as `pause.opened`; {', '.join(OCCASIONS)} are all.")

    def make(function: Callable[P, R]) -> NotifierFunction[P, R]:
        if not callable(function):
            raise BadFunction(f"`@notifier` decorates a function, not {function!r:.100}; give a name as `name`.")
        return NotifierFunction(function, name or str(getattr(function, "__name__", "")), tuple(on))

    return make if function is None else make(function)
