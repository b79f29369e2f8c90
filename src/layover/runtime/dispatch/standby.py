"""Renews leases where user code cannot prevent it: on its own thread, over its own connection.

The event loop renews as long as it can. When a function blocks it, or its connections are silent, the standby sees that
leases are overdue and renews them: otherwise another instance would take over executions that are still running here,
and be blocked by the same function. But not for ever: if the loop makes no progress for a bounded time, the instance
stops renewing, and other instances go on.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import TYPE_CHECKING

from layover.ports.commit_points import CommitPoint, reached
from layover.runtime.dispatch.lease_renewer import ATTEMPTS, drop, renewable, renewed

if TYPE_CHECKING:
    from layover.ports.families.claims import Renewals
    from layover.ports.store import Store
    from layover.runtime.dispatch.active_executions import Leases

_OLD = 2  # a lease of which less than this part is left is renewed

_log = logging.getLogger("layover.lease_renewer")


class StandbyRenewer:
    """A thread that renews leases when the event loop does not."""

    def __init__(self, store: Store, leases: Leases) -> None:
        self._store = store
        self._leases = leases
        self._loop = asyncio.get_running_loop()
        self._pause = leases.settings.lease_ttl / 1000 / ATTEMPTS
        # Counted in looks: while the process is stopped, or the machine sleeps, none of them passes.
        self._most_unanswered = max(1, round(leases.settings.blocked_limit / 1000 / self._pause))
        self._unanswered = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="layover-leases", daemon=True)
        self._thread.start()

    @property
    def has_let_go(self) -> bool:
        """Whether the event loop has made no progress for so long that the standby has stopped renewing."""
        return self._unanswered > self._most_unanswered

    def stop(self) -> None:
        """Stop renewing, without waiting for a renewal in flight."""
        self._stopped.set()

    def _answer(self) -> None:
        self._unanswered = 0

    def _run(self) -> None:
        renewals: Renewals | None = None
        try:
            while not self._stopped.wait(self._pause):
                try:
                    renewals = renewals or self._store.claims.renewals()
                    if renewals is None:
                        return
                    self._look(renewals)
                except Exception as error:  # noqa: BLE001 - whatever it was, the next look may find it gone
                    _log.warning("standby_renewal_failed", exc_info=error)
        finally:
            if renewals is not None:
                renewals.close()

    def _look(self, renewals: Renewals) -> None:
        """Renew the leases that the event loop should have renewed by now."""
        self._unanswered += 1
        try:
            self._loop.call_soon_threadsafe(self._answer)
        except RuntimeError:  # the loop is closed
            self._stopped.set()
            return
        if self.has_let_go:
            if self._unanswered == self._most_unanswered + 1:
                seconds = self._leases.settings.blocked_limit / 1000
                _log.critical("leases_let_go executions=%d blocked_for=%.0fs", len(self._leases.active), seconds)
            return
        leases = self._leases
        now, latest, ttl = leases.clock.now(), leases.clock.latest(), leases.settings.lease_ttl
        kept = [active for active in renewable(leases.active) if active.lease_until - latest < ttl / _OLD]
        if not kept:
            return
        lost = renewals.renew(leases.instance, [active.lease for active in kept], now + ttl, self._pause)
        reached(CommitPoint.LEASES_RENEWED)
        renewed(kept, lost, now + ttl)
        _log.warning("leases_renewed_by_standby executions=%d lost=%d", len(kept), len(lost))
        if lost:
            self._loop.call_soon_threadsafe(drop, kept, lost)
