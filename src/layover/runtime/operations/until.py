"""How far an execution is to come before a caller goes on: to a rest, until it needs people, to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from layover.errors import InvalidInput
from layover.ports.records import CLOSED

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionState as State
    from layover.ports.records import Head

Until: TypeAlias = Literal["rest", "people", "end"]
_UNTIL: Final[tuple[Until, ...]] = get_args(Until)

AT_REST: Final = frozenset({"waiting", "paused"})


def check_until(name: str, until: str | None) -> None:
    """Refuse a word that names no state to wait for: it would be taken for another one."""
    if until is not None and until not in _UNTIL:
        words = ", ".join(f'"{word}"' for word in _UNTIL)
        raise InvalidInput(f"`{name}` is one of {words}, not {until!r:.100}.", code="invalid_parameter")


def is_closed(head: Head) -> bool:
    """Return whether an execution has ended."""
    return head.status in CLOSED


def is_at_rest(head: Head) -> bool:
    """Return whether nothing is about to happen: what was sent to an execution at rest wakes it."""
    return head.status in CLOSED or (head.status in AT_REST and head.commands_done >= head.commands_seq)


def is_over(state: State, wait: Until) -> bool:
    """Return whether nothing more is to be waited for; if that cannot be told by the state alone, it is not."""
    if state.facts.closed:
        return True
    rests = bool(state.facts.started_at) and state.resting
    return rests and (wait == "rest" or (wait == "people" and state.status == "paused"))
