"""The runtime, broken on purpose in what it promises to those outside: each way with the law that notices it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from layover.core.engine import recovery
from layover.core.engine.conversations import reserve_act
from layover.core.ids import uuid8
from layover.nodes.journal import Journal
from layover.runtime import plans, runtime
from layover.runtime.calls import node_runner
from layover.runtime.dispatch import commit_retrier, signal_router
from layover.runtime.operations import starter
from layover.stores import answers
from layover.stores import limits as limit_rules
from layover.stores.memory import claims, limits, signals
from layover.stores.memory import commands as command_queue
from layover.testing.simulation.mixture import FAULTS
from tests.simulation.breaking import edited
from tests.simulation.mutants import MUTANTS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from layover.core.engine.commands import PointAct
    from layover.core.engine.state import Point
    from layover.core.plan import Plan
    from layover.nodes.journal import CallLease
    from layover.ports.records import AuditRow, Claim, Claimed, Enqueue, Head, Signal
    from layover.runtime.execution.outbox_messages import ChildStart, Scanning
    from layover.stores.memory.database import MemoryDatabase


class LawMutant(NamedTuple):
    """What is changed, the laws of which one notices it, the workflows that show it, and what is overdone for that."""

    laws: tuple[str, ...]
    workflows: tuple[str, ...]
    changes: list[tuple[Any, str, Any]]
    overdone: dict[str, float]


_begin_child, _startable, _of = starter.Starter.begin_child, plans.Plans.startable, plans.Plans.of
_keep, _enqueue, _take = signals.store_signal, command_queue.enqueue, claims._take  # noqa: SLF001 - to be broken


async def _another_child(self: starter.Starter, parent: str, child: str, start: ChildStart) -> None:
    driver = self._driver
    await _begin_child(self, parent, uuid8(f"{child}/{driver.clock.now()}"), start)


async def _never_held(self: plans.Plans, workflow: str, number: int | None, now: int) -> plans.Startable:
    return (await _startable(self, workflow, number, now))._replace(held=None)


async def _newest(self: plans.Plans, hash_: str) -> Plan:
    version = await self._store.definitions.find_by_hash(hash_)
    newest = await self._store.definitions.find_latest(version.workflow) if version is not None else None
    return await _of(self, newest.hash if newest is not None else hash_)


def _is_always_new(db: MemoryDatabase, signal: Signal, audit: AuditRow | None) -> bool:
    _keep(db, signal, audit)
    return True


async def _nothing_was_before(self: signal_router.SignalRouter, execution_id: str, scanning: Scanning) -> None:
    """Tell nobody of signals that have come before."""


async def _has_begun_it(*_: object) -> bool:
    return True


def _callbacks_are_new(db: MemoryDatabase, commands: Sequence[Enqueue], now: int, status: Any = None) -> list[Any]:
    changed = [replace(one, source="") if one.source.startswith("callback:") else one for one in commands]
    return _enqueue(db, changed, now, status)


def _is_always_open(point: Point, schema: object, act: PointAct, now: int) -> Any:
    return reserve_act(replace(point, status="open"), schema, act, now)


def _forgets_the_first(
    node: str,
    attempt: int,
    recorded: Mapping[str, object],
    write: Callable[[Any], Awaitable[None]],
    lease: CallLease,
    token: str | None,
) -> Journal:
    kept = {key: value for key, value in recorded.items() if key != "first"}
    return Journal(node, attempt, kept, write, lease, token)


def _counts_no_losses(db: MemoryDatabase, was: Head, wish: Claim) -> Claimed:
    claimed = _take(db, was, wish)
    head = db.heads[was.execution_id] = replace(claimed.head, takeovers=0)
    return replace(claimed, head=head)


def _counts_too_many_losses(db: MemoryDatabase, was: Head, wish: Claim) -> Claimed:
    claimed = _take(db, was, wish)
    head = db.heads[was.execution_id] = replace(
        claimed.head, takeovers=claimed.head.takeovers + 11 * claimed.taken_over
    )
    return replace(claimed, head=head)


_WITH_UNDO = ("reconsidered", "revoked")

LAW_MUTANTS: dict[str, LawMutant] = {
    "whoever comes second under a key has begun it": LawMutant(
        ("KEY_ONCE", "INPUT_IS_LOGGED"),
        ("council",),
        [(commit_retrier.CommitRetrier, "_has_begun_it", _has_begun_it)],
        {"rash": 1.0, "lost_replies": 0.1, "late": 0.1},
    ),
    "a signal is new whenever it comes": LawMutant(
        ("SIGNAL_ONCE",), ("signalled",), [(signals, "store_signal", _is_always_new)], {"rash": 0.5}
    ),
    "signals that came before are not looked for": LawMutant(
        ("LIVENESS",), ("signalled",), [(signal_router.SignalRouter, "scan", _nothing_was_before)], {}
    ),
    "a callback takes every reply": LawMutant(
        ("CALLBACK_ONCE",), ("called_back",), [(command_queue, "enqueue", _callbacks_are_new)], {"rash": 0.8}
    ),
    "a form takes every answer": LawMutant(
        ("ANSWER_ONCE",), ("steps",), [(answers, "reserve_act", _is_always_open)], {"rash": 0.8}
    ),
    "what is taken back stays": LawMutant(
        ("UNDO_HOLDS",), _WITH_UNDO, MUTANTS["what is taken back stays"], {"rash": 0.5}
    ),
    "what can be taken back is applied": LawMutant(
        ("UNDO_HOLDS",), _WITH_UNDO, MUTANTS["an answer is applied while it can be taken back"], {}
    ),
    "what is final is taken back": LawMutant(
        ("UNDO_HOLDS",), _WITH_UNDO, MUTANTS["what is final is taken back"], {"rash": 0.8}
    ),
    "a take-back is not seen until it is read": LawMutant(
        ("ANSWER_ONCE", "SAID_ONCE"),
        ("revoked",),
        MUTANTS["a take-back is not seen until it is read *"],
        {"rash": 0.5, "stops": 10.0, "slow": 0.5},
    ),
    "a claim stops nobody": LawMutant(("CLAIM_HOLDS",), _WITH_UNDO, MUTANTS["a claim stops nobody"], {}),
    "what is asked is not kept": LawMutant(("SAID_ONCE",), _WITH_UNDO, MUTANTS["what is asked is not kept"], {}),
    "a journal forgets": LawMutant(
        ("RECORDED_ONCE",), ("recorded",), [(node_runner, "Journal", _forgets_the_first)], {}
    ),
    "a journal forgets what threads did": LawMutant(
        ("RECORDED_ONCE",), ("blocking",), [(node_runner, "Journal", _forgets_the_first)], {}
    ),
    "there is always a slot": LawMutant(("LIMIT_HOLDS",), ("limited",), [(limits, "_has_room", lambda *_: True)], {}),
    "a rate is never used up": LawMutant(
        ("LIMIT_HOLDS",), ("rated",), [(limit_rules, "reserve_rate", lambda _rate, _used, now: (now, now * 1000))], {}
    ),
    "a child is another each time": LawMutant(
        ("CHILD_ONCE",), ("family",), [(starter.Starter, "begin_child", _another_child)], {"lost_replies": 0.1}
    ),
    "executions move on to new versions": LawMutant(
        ("VERSION_KEPT", "VERIFY", "NO_INTERNAL_ERROR"),
        ("steps",),
        [(plans.Plans, "of", _newest)],
        {"deployments": 10.0, "crashes": 15.0},
    ),
    "what begins while its workflow is paused is not held": LawMutant(
        ("PAUSE_HOLDS",), ("steps",), [(plans.Plans, "startable", _never_held)], {"workflow_pauses": 4.0}
    ),
    "who resumes a workflow passes over what is told to pause": LawMutant(
        ("RESUMED_GOES_ON",),
        ("steps", "recorded"),
        MUTANTS["a resumed workflow leaves executions paused *"],
        {"workflow_pauses": 2.0},
    ),
    "losses are not counted": LawMutant(
        ("POISON_CONTAINED",), ("steps",), [(claims, "_take", _counts_no_losses)], {"deadly_calls": 0.05}
    ),
    "a call is given up with the first instance that it is lost with": LawMutant(
        ("INNOCENT_GOES_ON",),
        ("steps",),
        [
            edited(
                recovery,
                "_recover_call",
                (" and node.recoveries >= context.state.plan.definition.settings.max_recoveries", ""),
            )
        ],
        {**dict.fromkeys(FAULTS, 0.0), "deadly_calls": 0.02, "instances": 1},
    ),
    "one loss counts for many": LawMutant(
        ("NO_INTERNAL_ERROR",), ("steps",), [(claims, "_take", _counts_too_many_losses)], {"crashes": 15.0}
    ),
    "what is not answered counts as refused": LawMutant(
        ("NO_INTERNAL_ERROR",), ("steps",), [(commit_retrier, "is_refusal", lambda _: True)], {"lost_replies": 0.1}
    ),
    "a renewal that was too slow is the last for a long time": LawMutant(
        ("ONE_AT_A_TIME", "OWNED_IS_DRIVEN"),
        ("steps",),
        [(runtime, "AFTER_FAILURE", 0.3)],
        {**dict.fromkeys(FAULTS, 0.0), "slow": 0.03, "instances": 3},
    ),
}
