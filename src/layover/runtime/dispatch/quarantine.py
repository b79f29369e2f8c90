"""Counts lost instances, and recovers suspects alone.

One rule says what a loss is, when it is charged and when it is forgiven:

- A loss is a lease that runs out with an owner: its instance died, stood still or was out of touch. The claim that
  takes the execution over counts it (`takeovers` of the head). Nothing else adds to the count.
- It is charged to the calls that were out by the first leg that writes after it, which says so in the same append:
  `LegStarted.losses` is the count by then. A claim that finds no more losses than the log has charges nothing.
- Progress forgives all of them: an append of a living owner with any event but those that take calls up again
  (`TAKING_UP`), a rest, or calls of a suspect that its instance has survived for long enough.
- Letting go without progress (put off, held back, out of touch, stopped in order) neither forgives nor adds: the
  instance that releases an execution writes back the count that it found.

An execution that loses two instances in a row without progress may have killed them, or may only have been active at
the same time. Such a suspect is delayed, longer each time, and so are the executions that were lost with it. Then it is
driven alone: if the instance is lost again, no other execution is charged with that. While a suspect waits, the
instance claims nothing new, so that its active executions come to rest; after a bounded time the suspect is driven
beside those that are left. After `max_takeovers` losses its next leg pauses it as an incident. If even that costs
instances, time after time, it is tried once in ten minutes, in case the cause goes away.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random  # noqa: TID251 - what the machine gives is one

    from layover.ports.records import Claimed, Head
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.active_executions import ActiveExecutions
    from layover.runtime.dispatch.claim_schedule import ClaimSchedule
    from layover.runtime.execution.active_execution import ActiveExecution
    from layover.runtime.settings import RuntimeSettings

_SUSPECT = 2  # takeovers in a row; one may happen to any execution
_LONGEST_BACKOFF = 60_000
_LAST_BACKOFF = 600_000  # of one that is lost even while it is paused

_log = logging.getLogger("layover.quarantine")


class Quarantine:
    """The suspect that is driven alone, and the suspects that wait for that."""

    def __init__(
        self, active: ActiveExecutions, clock: Clock, settings: RuntimeSettings, schedule: ClaimSchedule, chance: Random
    ) -> None:
        self._active = active
        self._clock = clock
        self._settings = settings
        self._schedule = schedule
        self._chance = chance
        self._alone = ""
        self._lease_over_at = 0  # of the claim of the one that is driven alone
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
        longest = 0  # of the suspects that were just taken over: executions that have lost less wait for them
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
            self._active.freed.set()

    def end(self, execution_id: str) -> None:
        """Let others in again, beside an execution or after it."""
        if self._alone == execution_id:
            self._alone = ""
            self._active.freed.set()
            self._schedule.hint(0)

    def _backoff(self, head: Head) -> int:
        """Return the delay of a suspect that was just taken over."""
        settings, id_, losses = self._settings, head.execution_id, head.takeovers
        is_hopeless = losses > 2 * settings.max_takeovers
        longest = min(settings.recovery_backoff << (losses - _SUSPECT), _LONGEST_BACKOFF)
        longest = _LAST_BACKOFF if is_hopeless else longest
        wait = round(longest * self._chance.uniform(0.5, 1)) if settings.jitter else longest
        level = logging.ERROR if is_hopeless else logging.WARNING
        _log.log(level, "suspect_put_off execution=%s takeovers=%d ms=%d", id_, losses, wait)
        self.gone(head.execution_id)
        return wait

    def _until_alone(self, execution_id: str) -> int | None:
        """Return for how long a suspect is put off because others are driven; None if it can be driven alone."""
        if self._may_begin(execution_id):
            return None
        self._expect(execution_id)
        return self._settings.suspect_alone

    def _may_begin(self, execution_id: str) -> bool:
        if self._alone:
            return False
        is_only = self._active.keys() <= {execution_id}  # what is left of an earlier claim does not count
        return is_only or (self._next == execution_id and self._clock.now() >= self._next_until)

    def _expect(self, execution_id: str) -> None:
        """Drive nothing new until a suspect can be driven alone, or has waited for too long."""
        if not self._next:
            clock = self._clock
            self._next, self._next_until = execution_id, clock.now() + self._settings.suspect_alone
            clock.call_at(self._next_until, self._active.freed.set)

    def _begin(self, head: Head) -> None:
        """Drive an execution alone, if it is a suspect."""
        if head.takeovers < _SUSPECT:
            return
        self._alone = execution_id = head.execution_id
        if self._next == execution_id:
            self._next = ""
        clock, settings = self._clock, self._settings
        self._lease_over_at = clock.now() + settings.lease_ttl
        longest = settings.suspect_alone << min(head.takeovers - _SUSPECT, settings.max_takeovers)
        clock.call_at(clock.now() + longest, lambda: self.review(execution_id, longest))
        _log.warning("suspect_driven_alone execution=%s takeovers=%d", execution_id, head.takeovers)

    def review(self, execution_id: str, longest: int) -> None:
        """Clear a suspect if its instance has survived all of its calls for so long; else look again later.

        A process that stood still has proven nothing: its calls may not have begun, and its lease may be lost. Neither
        has one that is still reading the suspect's log.
        """
        if self._alone != execution_id:
            return
        active, clock = self._active.get(execution_id), self._clock
        if active is not None:
            left = _left(active, clock.running(), longest)
        else:  # its log is still being read, for as long as its claim counts
            left = min(max(longest, 1), self._lease_over_at - clock.now())
        if left > 0:
            clock.call_at(clock.now() + left, lambda: self.review(execution_id, longest))
            return
        if active is not None:
            active.clear_takeovers()
        self.end(execution_id)


def _left(active: ActiveExecution, now: int, longest: int) -> int:
    """Return for how much longer the calls of an execution have to run, at least."""
    begun = [out.begun_at for out in active.calls.values()]
    if not begun or None in begun or not active.has_lease():
        return max(longest, 1)
    return longest - (now - max(at for at in begun if at is not None))
