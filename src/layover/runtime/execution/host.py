"""What an active execution asks of the driver that it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Head, LeaseRow, Message, NewExecution, Rest
    from layover.runtime.execution.state_cache import CachedState


class HostedExecution(Protocol):
    """An active execution, as its host sees it."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def new(self) -> NewExecution | None:
        """What it is created with, as long as the creation is not durable."""

    @property
    def parked(self) -> bool:
        """Whether it is begun here, and driven by any instance that has room for it."""

    @property
    def taken_up(self) -> bool:
        """Whether it was begun or resumed on another instance, where a caller may wait for it."""


class Host(Protocol):
    """Gives executions back, and tells others of what has become durable."""

    def forget(self, active: HostedExecution) -> None:
        """Remove an execution from the active ones."""

    def rested(self, active: HostedExecution, cached: CachedState, rest: Rest) -> None:
        """Cache the state of an execution that rests or is closed; its lease was given back with its last append."""

    def give_back(self, lease: LeaseRow, wake_at: int | None) -> None:
        """Release an execution that had nothing to do."""

    def put_off(self, lease: LeaseRow, after: int, missing: tuple[str, ...] = ()) -> None:
        """Release an execution that cannot go on here; it is due after some time (in milliseconds)."""

    def progressed(self, execution_id: str) -> None:
        """Note that an execution which had lost instances goes on."""

    def committed(self, head: Head) -> None:
        """Wake the callers that wait for an execution."""

    def post(self, messages: Sequence[Message]) -> None:
        """Have durable messages delivered."""
