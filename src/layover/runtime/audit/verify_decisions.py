"""Compares the decisions in the logs of executions with audit entries: neither may be there without the other.

An answer stands in the queue of its execution before it is in the log; and if its execution ended first, only there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events
from layover.core.engine.state import PEOPLE
from layover.ports.access import AuditFilter
from layover.ports.audit_entries import ENGINE
from layover.ports.view_records import ExecutionFilter
from layover.runtime.audit.findings import AuditFinding, finding

if TYPE_CHECKING:
    from layover.ports.records import AuditRow
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow

_AT_ONCE: Final = 100
_APPROVED: Final = {True: "approval.approve", False: "approval.reject"}
_ANSWERED: Final = "point.answer"
_ACTS: Final = frozenset({*_APPROVED.values(), _ANSWERED})
_BY_DEADLINE: Final = {"approve": "approval.approve", "reject": "approval.reject"}


class _Decision(NamedTuple):
    point: str
    act: str
    user: str


async def check_decisions(store: Store, *, since: int | None, purged: int) -> tuple[int, list[AuditFinding]]:
    """Return how many decisions since the first seal were compared, and those that only log or audit know of.

    `purged` is the moment at which retention last deleted entries: decisions from before it may have lost theirs.
    """
    if since is None:
        return 0, []
    count, found = 0, list[AuditFinding]()
    after: tuple[int, str] | None = None
    while rows := await store.queries.list_executions(ExecutionFilter(after=after, limit=_AT_ONCE)):
        after = rows[-1].info.created_at, rows[-1].head.execution_id
        for row in rows:
            compared, differing = await _compare(store, row, since, purged)
            count += compared
            found += differing
    return count, found


async def _compare(store: Store, row: ExecutionRow, since: int, purged: int) -> tuple[int, list[AuditFinding]]:
    id_ = row.head.execution_id
    there = await _entries(store, id_)
    erased = {(one.target, one.act) for one in there if _is_erased(one)}
    entries = {_Decision(one.target, one.act, one.user): one for one in there if not _is_erased(one)}
    decided = await _decided(store, id_)
    if not entries and not decided:
        return 0, []
    given = {*decided, *await _given(store, id_)}
    found: list[AuditFinding] = []
    for decision, at in decided.items():
        if decision not in entries and (decision.point, decision.act) not in erased and at >= max(since, purged):
            text = f"{decision.user} decided at {decision.point} of {id_} ({decision.act}), and no entry says so."
            found.append(finding("decision_without_entry", text))
    for decision, entry in entries.items():
        if decision not in given:
            text = (
                f"By the entry {entry.id}, {decision.user} decided at {decision.point} of {id_}; its log says nothing."
            )
            found.append(finding("entry_without_decision", text, seal=entry.seal, entry=entry.id))
    if found and await store.queries.find_execution(id_) is None:
        return 0, []  # it was purged after it was listed
    return len(decided), found


def _is_erased(row: AuditRow) -> bool:
    """Return whether the text of a sealed entry was erased: then it no longer says whose it was."""
    return not row.entry and row.seal is not None


async def _entries(store: Store, execution_id: str) -> list[AuditRow]:
    found: list[AuditRow] = []
    wanted = AuditFilter(execution_id=execution_id, limit=_AT_ONCE)
    while page := await store.audit.list_entries(wanted):
        found += [row for row in page if row.act in _ACTS]
        wanted = replace(wanted, after=(page[-1].at, page[-1].id))
    return found


async def _decided(store: Store, execution_id: str) -> dict[_Decision, int]:
    """Return the decisions in a log, with when they were made."""
    found: dict[_Decision, int] = {}
    opened: dict[str, ev.PausePointOpened] = {}
    seq = 0
    while page := await store.queries.read_history(execution_id, seq, _AT_ONCE):
        for entry in page:
            for event in decode_events(entry.events):
                decision = _decision_of(event, opened)
                if decision is not None:
                    found[decision] = entry.at
            seq = entry.seq + entry.count
    return found


def _decision_of(event: ev.AnyEvent, opened: dict[str, ev.PausePointOpened]) -> _Decision | None:
    match event:
        case ev.PausePointOpened() if event.kind in PEOPLE:
            opened[event.point] = event
        case ev.PausePointDecided(point=point, decision=decision):
            return _Decision(point, _APPROVED[decision.approved], decision.by or ENGINE)
        case ev.PausePointAnswered(point=point, by=by) if point in opened and opened[point].kind == "form":
            return _Decision(point, _ANSWERED, by or ENGINE)
        case ev.PausePointExpired(point=point) if point in opened:
            act = _BY_DEADLINE.get(opened[point].on_deadline or "")
            return _Decision(point, act, ENGINE) if act is not None else None
        case _:
            pass
    return None


async def _given(store: Store, execution_id: str) -> set[_Decision]:
    """Return the answers in the queue of an execution, read or not."""
    found: set[_Decision] = set()
    for command in await store.commands.list_after(execution_id, 0):
        if command.kind != "Answer":
            continue
        said: dict[str, Any] = msgspec.json.decode(command.body)
        approved = said.get("approved")
        act = _ANSWERED if approved is None else _APPROVED[bool(approved)]
        found.add(_Decision(str(said.get("point", "")), act, str(said.get("by") or ENGINE)))
    return found
