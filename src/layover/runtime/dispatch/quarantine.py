"""Recovers suspects alone.

An execution that loses two instances in a row without progress may have killed them, or may only have been active at
the same time. Such a suspect is delayed, longer each time, and so are the executions that were lost with it. Then it is
driven alone: if the instance is lost again, no other execution is charged with that. While a suspect waits, the
instance claims nothing new, so that its active executions come to rest; after a bounded time the suspect is driven
beside those that are left. A suspect is cleared by progress, by a rest, or when its instance has survived long enough,
which is longer each time.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Claimed, Head
    from layover.runtime.dispatch.driver import Driver

_SUSPECT = 2  # takeovers in a row; one may happen to anybody
_LONGEST_BACKOFF = 60_000

_log = logging.getLogger("layover.quarantine")


class Quarantine:
    """The suspect that is driven alone, and the suspects that wait for that."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._alone = ""
        self._next = ""
        self._next_until = 0  # it waits for others to come to an end until then

    @property
    def is_closed(self) -> bool:
        """Whether nothing else may be driven here for now."""
        return bool(self._alone or self._next)

    def sort(self, claims: Sequence[Claimed]) -> tuple[Sequence[Claimed], list[tuple[Claimed, int]]]:
        """Return the claims that may be driven, and those that are delayed, each with its delay."""
        if not self._alone and not any(claimed.head.takeovers for claimed in claims):
            return claims, []  # by far the most frequent
        active: list[Claimed] = []
        put_off: list[tuple[Claimed, int]] = []
        longest = 0  # of the suspects that were just taken over: whoever has lost less waits for them
        for claimed in sorted(claims, key=lambda one: -one.head.takeovers):
            takeovers = claimed.head.takeovers
            wait: int | None = 0 if self._alone else None
            if claimed.taken_over and takeovers >= _SUSPECT:
                wait = self._backoff(claimed.head)
                longest = max(longest, wait)
            elif longest and takeovers:
                wait = longest
            elif takeovers >= _SUSPECT:
                wait = self._until_alone(claimed.head.execution_id)
            if wait is None:
                active.append(claimed)
                self._begin(claimed.head)
            else:
                put_off.append((claimed, wait))
        return active, put_off

    def due(self) -> str:
        """Return the suspect that is to be driven now, if there is one."""
        return self._next if self._next and self._may_begin(self._next) else ""

    def gone(self, execution_id: str) -> None:
        """Wait no longer for a suspect: another instance has it."""
        if self._next == execution_id:
            self._next = ""
            self._driver.freed.set()

    def end(self, execution_id: str) -> None:
        """Let others in again, beside an execution or after it."""
        if self._alone == execution_id:
            self._alone = ""
            self._driver.freed.set()
            self._driver.hint(0)

    def _backoff(self, head: Head) -> int:
        """Return the delay of a suspect that was just taken over."""
        settings = self._driver.settings
        longest = min(settings.recovery_backoff << (head.takeovers - _SUSPECT), _LONGEST_BACKOFF)
        wait = round(longest * self._driver.machine.chance.uniform(0.5, 1)) if settings.jitter else longest
        _log.warning("suspect_put_off execution=%s takeovers=%d ms=%d", head.execution_id, head.takeovers, wait)
        self.gone(head.execution_id)
        return wait

    def _until_alone(self, execution_id: str) -> int | None:
        """Return for how long a suspect is put off because others are driven; None if it can be driven alone."""
        if self._may_begin(execution_id):
            return None
        self._expect(execution_id)
        return self._driver.settings.suspect_alone

    def _may_begin(self, execution_id: str) -> bool:
        if self._alone:
            return False
        driver = self._driver
        is_only = driver.active.keys() <= {execution_id}  # what is left of an earlier claim does not count
        return is_only or (self._next == execution_id and driver.clock.now() >= self._next_until)

    def _expect(self, execution_id: str) -> None:
        """Drive nothing new until a suspect can be driven alone, or has waited for too long."""
        if not self._next:
            clock = self._driver.clock
            self._next, self._next_until = execution_id, clock.now() + self._driver.settings.suspect_alone
            clock.call_at(self._next_until, self._driver.freed.set)

    def _begin(self, head: Head) -> None:
        """Drive an execution alone, if it is a suspect."""
        if head.takeovers < _SUSPECT:
            return
        self._alone = execution_id = head.execution_id
        if self._next == execution_id:
            self._next = ""
        clock, longest = self._driver.clock, self._driver.settings.suspect_alone << (head.takeovers - _SUSPECT)
        clock.call_at(clock.now() + longest, lambda: self._survived(execution_id))
        _log.warning("suspect_driven_alone execution=%s takeovers=%d", execution_id, head.takeovers)

    def _survived(self, execution_id: str) -> None:
        """Clear a suspect whose instance has survived long enough."""
        if self._alone == execution_id:
            active = self._driver.active.get(execution_id)
            if active is not None:
                active.clear_takeovers()
            self.end(execution_id)
