"""What must hold in every state, judged by the tables alone: as an auditor would, who has not seen who did what."""

from __future__ import annotations

from functools import cache

from .rules import Invariant
from .tables import TAKEOVER_LIMIT, Command, Tables
from .workflow import CLOSING, COMPLETED, STARTED

MOVED_AS = {
    "answer": "PausePointAnswered",
    "pause": "ExecutionPausing",
    "resume": "ExecutionResumed",
    "cancel": "ExecutionCancelled",
}


@cache
def broken_promise(tables: Tables) -> Invariant | None:
    """Return the first promise that these tables break."""
    for holds, invariant in (
        (_log_is_one_line, Invariant.LOG_IS_ONE_LINE),
        (_answer_kept, Invariant.ANSWER_KEPT),
        (_pause_obeyed, Invariant.PAUSE_OBEYED),
        (_cancel_ends, Invariant.CANCEL_ENDS),
        (_done_once, Invariant.DONE_ONCE),
        (_paused_names_all, Invariant.PAUSED_NAMES_ALL),
        (_closed_is_closed, Invariant.CLOSED_IS_CLOSED),
        (_commands_settled, Invariant.COMMANDS_SETTLED),
        (_no_spinning, Invariant.NO_SPINNING),
        (_no_stillness, Invariant.NO_STILLNESS),
    ):
        if not holds(tables):
            return invariant
    return None


@cache
def is_end(tables: Tables) -> bool:
    """Say whether the execution may stay like this for ever: closed, or paused with everything heard."""
    execution, head = tables.execution(), tables.head
    at_rest = head.owner is None and head.wake_at is None and not tables.unread()
    return at_rest and (execution.closed or execution.gate == "paused")


def _log_is_one_line(tables: Tables) -> bool:
    return [row.seq for row in tables.events] == list(range(1, tables.head.last_seq + 1))


def _answer_kept(tables: Tables) -> bool:
    accepted = any(command.kind == "answer" for command in tables.commands)
    return not (accepted and "PausePointExpired" in tables.log())


def _after(tables: Tables, command: Command) -> list[str]:
    return [row.event for row in tables.events if row.seq > command.after_seq]


def _pause_obeyed(tables: Tables) -> bool:
    for command in tables.commands:
        if command.kind == "pause":
            for event in _after(tables, command):
                if event == "ExecutionResumed":
                    break
                if event in STARTED:
                    return False
    return True


def _cancel_ends(tables: Tables) -> bool:
    return not any(
        event in STARTED or event == "ExecutionCompleted"
        for command in tables.commands
        if command.kind == "cancel"
        for event in _after(tables, command)
    )


def _done_once(tables: Tables) -> bool:
    done = set()
    for event in tables.log():
        if event in STARTED and STARTED[event] in done:
            return False
        if event in COMPLETED:
            done.add(COMPLETED[event])
    return True


def _paused_names_all(tables: Tables) -> bool:
    execution = tables.execution()
    return not (execution.gate == "paused" and execution.calling)


def _closed_is_closed(tables: Tables) -> bool:
    closings = [row.seq for row in tables.events if row.event in CLOSING]
    if not closings:
        return True
    taken = any(command.after_seq >= closings[0] for command in tables.commands)
    return not taken and closings == [tables.head.last_seq] and tables.head.wake_at is None


def _commands_settled(tables: Tables) -> bool:
    log = tables.log()
    if any(command.fate == "queued" for command in tables.commands) and tables.execution().closed:
        return False
    for kind, event in MOVED_AS.items():
        moved = sum(command.kind == kind and command.fate == "moved" for command in tables.commands)
        if moved != log.count(event) + log.count(f"CommandIgnored {kind}"):
            return False
    return True


def _no_spinning(tables: Tables) -> bool:
    return tables.head.idle_claims <= 1 + TAKEOVER_LIMIT


def _no_stillness(tables: Tables) -> bool:
    """An open execution that nobody owns and nothing wakes needs a reason: here, only an operator's pause is one."""
    resting = tables.head.owner is None and tables.head.wake_at is None
    return not resting or is_end(tables)
