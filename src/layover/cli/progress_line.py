"""How far a command on a database has come: in a terminal a bar, which is written over; elsewhere a line at times."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final, Self

from layover.cli.screen import ERR, note
from layover.cli.tree import bar_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from layover.admin import AdminProgress

_BETWEEN_UPDATES: Final = 50  # executions
_BETWEEN_LINES: Final = 10.0  # seconds, where there is no terminal


class ProgressLine:
    """Shows progress on standard error while a `with` block lasts; not with --json."""

    def __init__(self, *, json: bool, clock: Callable[[], float] = monotonic) -> None:
        self._is_silent = json
        self._status = ERR.status("") if ERR.is_terminal and not json else None
        self._clock = clock
        self._said_at = clock()
        self.last: AdminProgress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def tell(self, progress: AdminProgress) -> None:
        """Show how far it has come."""
        self.last = progress
        if self._is_silent:
            return
        if self._status is None:
            self._say_now_and_then(progress)
        elif progress.part != "verifying" or progress.executions % _BETWEEN_UPDATES == 1:
            bar = f"{bar_of(progress.executions, progress.total)} " if progress.total else ""
            self._status.start()
            self._status.update(f"{bar}{_sentence(progress)}")

    def _say_now_and_then(self, progress: AdminProgress) -> None:
        now = self._clock()
        if now - self._said_at >= _BETWEEN_LINES:
            self._said_at = now
            note(_sentence(progress))


def _sentence(progress: AdminProgress) -> str:
    of = f" of {progress.total:,}" if progress.total is not None else ""
    return f"{progress.part}: {progress.executions:,}{of} executions"
