"""How the events of pause points change the state."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules
from layover.core.engine import events as ev
from layover.core.engine.node_transitions import dequeue, move
from layover.core.engine.state import PEOPLE, ExecutionState, InBranch, InRound, Point, Taken
from layover.core.engine.undo_windows import next_final, without_answer
from layover.core.requesters import requester_of

_FORGET_AT: Final = 64  # signals that were taken: at each multiple of it, old ones are forgotten
_CLOCKS_APART: Final = 60_000  # that of the store, which times signals, and that of the instance


def opened(state: ExecutionState, event: ev.PausePointOpened, at: int) -> None:
    path = event.node.partition(":")[2]
    branch, round_ = scopes_around(state, path) if path else (None, None)
    point = Point(
        id=event.point,
        node=event.node,
        kind=event.kind,
        opened_at=at,
        deadline=event.deadline,
        on_deadline=event.on_deadline,
        details=event.details,
        rules=event.rules,
        key=event.key,
        remind_at=event.remind_at,
        escalate_at=event.escalate_at,
        beat_by=event.beat_by,
        doubt=event.doubt,
        undo=event.undo,
        branch=branch,
        round=round_,
        started_by=requester_of(state.facts.user, state.facts.trigger) if event.kind == "form" else None,
    )
    state.points.put(event.point, point)
    _set_point_timer(state, point)
    if event.kind in PEOPLE:
        state.count("people", 1)
    elif event.kind == "child":
        state.count("children", 1)
    node = state.node(event.node)
    if event.kind == "callback" and node.status == "running":  # the call that will be called back is still out
        state.nodes.put(event.node, replace(node, point=event.point))
    else:
        move(state, event.node, node, replace(node, status="waiting", started_at=at, point=event.point, ticket=-1))


def scopes_around(state: ExecutionState, path: str) -> tuple[InBranch | None, InRound | None]:
    """Return the innermost branch and the innermost round at a path, the rounds of a parallel being its branches."""
    branch: InBranch | None = None
    round_: InRound | None = None
    while path and (branch is None or round_ is None):
        scope = state.scopes.rows[path]
        planned = state.planned(scope.node)
        if planned.node.type != "parallel":
            round_ = round_ or InRound(planned.id, int(scope.key))
        elif branch is None and isinstance(scope.key, str):
            branch = InBranch(planned.id, list(planned.bodies).index(scope.key), len(planned.bodies))
        elif branch is None:
            items = state.node(scope.node).input
            branch = InBranch(planned.id, int(scope.key), len(items) if isinstance(items, list) else 0)
        path = path.rpartition(":")[0]
    return branch, round_


def _set_point_timer(state: ExecutionState, point: Point) -> None:
    """Set the timer of a point to the first moment at which something is due there."""
    reminder = point.remind_at[point.reminded] if point.reminded < len(point.remind_at) else None
    asking = (reminder, point.escalate_at, point.beat_by, point.deadline) if point.status == "open" else ()
    moments = [at for at in (*asking, next_final(point)) if at is not None]
    if moments:
        state.timers.put(point.id, min(moments))
    else:
        state.timers.drop(point.id)


def _change_point(state: ExecutionState, point: Point) -> None:
    state.points.put(point.id, point)
    _set_point_timer(state, point)


def decided(state: ExecutionState, event: ev.PausePointDecided, _at: int) -> None:
    point = state.points[event.point]
    brought = point.brought
    if event.variables and event.decision.final_at is not None:
        brought = {**brought, event.decision.by: event.variables}
    variables = {**point.variables, **event.variables}
    decisions = (*point.decisions, event.decision)
    _change_point(state, replace(point, decisions=decisions, variables=variables, brought=brought, claim=None))


def received(state: ExecutionState, event: ev.PausePointReceived, at: int) -> None:
    point = state.points[event.point]
    _change_point(state, replace(point, received={**point.received, event.alias: event.signal}))
    if state.plan.lookback:
        _remember(state, point.node, event.signal, at)


def signalled(state: ExecutionState, event: ev.PausePointSignalled, _at: int) -> None:
    point = state.points[event.point]
    _change_point(state, replace(point, signalled=(*point.signalled, event.signal)))


def _remember(state: ExecutionState, node: str, signal: dict[str, object], at: int) -> None:
    """Remember that a signal was taken, and forget now and then those behind which no wait looks back any more."""
    sent, taken = signal.get("at"), state.taken
    taken.put(str(signal.get("id")), Taken(node, sent if isinstance(sent, int) else at))
    if len(taken) % _FORGET_AT == 0:
        oldest = at - state.plan.lookback - _CLOCKS_APART
        for id_ in [id_ for id_, one in taken.rows.items() if one.at < oldest]:
            taken.drop(id_)


def reminded(state: ExecutionState, event: ev.PausePointReminded, _at: int) -> None:
    _change_point(state, replace(state.points[event.point], reminded=event.number))


def escalated(state: ExecutionState, event: ev.PausePointEscalated, _at: int) -> None:
    point = state.points[event.point]
    rules = replace(
        point.rules or ApprovalRules(), escalated_users=event.users, escalated_roles=event.roles, escalation_ahead=False
    )
    _change_point(state, replace(point, rules=rules, escalate_at=None, claim=None))


def delegated(state: ExecutionState, event: ev.PausePointDelegated, _at: int) -> None:
    point = state.points[event.point]
    rules = point.rules or ApprovalRules()
    rules = replace(rules, delegates=(*rules.delegates, (event.giver, event.taker)))
    _change_point(state, replace(point, rules=rules))


def beat(state: ExecutionState, event: ev.PausePointBeat, _at: int) -> None:
    _change_point(state, replace(state.points[event.point], beat_by=event.beat_by))


def held(state: ExecutionState, event: ev.PausePointHeld, _at: int) -> None:
    _hold(state, state.points[event.point], held=True)


def released(state: ExecutionState, event: ev.PausePointReleased, _at: int) -> None:
    _hold(state, state.points[event.point], held=False)


def release_children(state: ExecutionState) -> None:
    """Treat every child as running: each is told to resume, or to pause and to confirm it."""
    for point in [point for point in state.points.rows.values() if point.held]:
        _hold(state, point, held=False)


def _hold(state: ExecutionState, point: Point, *, held: bool) -> None:
    state.points.put(point.id, replace(point, held=held))
    state.count("children", -1 if held else 1)


def answered(state: ExecutionState, event: ev.PausePointAnswered, at: int) -> None:
    point = state.points[event.point]
    found = replace(
        point,
        status="answered",
        port=event.port,
        output=event.output,
        error=event.error,
        by=event.by,
        held=False,
        claim=None,
        answered_at=at if event.at is None else event.at,
        variables={**point.variables, **event.variables},
        seen=event.seen,
        final_at=event.final_at,
    )
    if event.final_at is None:
        _enqueue(state, found)
    else:
        _change_point(state, found)
    _uncount(state, point)


def _enqueue(state: ExecutionState, point: Point) -> None:
    """Let an answer that is final wait for its turn."""
    turn = state.counts["answers"]
    state.count("answers", 1)
    state.points.put(point.id, replace(point, turn=turn))
    state.answered.put(turn, point.id)
    state.timers.drop(point.id)


def made_final(state: ExecutionState, event: ev.PausePointFinal, _at: int) -> None:
    point = state.points[event.point]
    if event.by is None:
        _enqueue(state, replace(point, final=True))
        return
    decisions = tuple([replace(one, final=True) if one.by == event.by else one for one in point.decisions])
    _change_point(state, replace(point, decisions=decisions))


def taken_back(state: ExecutionState, event: ev.PausePointTakenBack, _at: int) -> None:
    point = state.points[event.point]
    _change_point(state, without_answer(point, event.by))
    if point.status == "answered":
        state.count("people", 1)


def _uncount(state: ExecutionState, point: Point) -> None:
    """Remove an open point from the counts."""
    if point.kind in PEOPLE:
        state.count("people", -1)
    elif point.kind == "child" and not point.held:
        state.count("children", -1)


def point_ended(
    state: ExecutionState, event: ev.PausePointApplied | ev.PausePointExpired | ev.PausePointCancelled, at: int
) -> None:
    point = state.points[event.point]
    state.points.drop(event.point)
    state.timers.drop(event.point)
    if point.status == "open":
        _uncount(state, point)
    elif not point.is_revocable:
        dequeue(state, state.answered, point.turn, "first_answer", "answers")
    node = state.node(point.node)
    if isinstance(event, ev.PausePointApplied) and point.kind in PEOPLE:
        facts = state.facts
        asked_within = point.key or point.doubt  # a question of the function itself, or about a lost call
        state.change(
            answered=facts.answered if asked_within else point.node,
            resume_count=facts.resume_count + 1,
            resumed_at=at,
            resume_data=point.variables or facts.resume_data,
        )
    cancelled = isinstance(event, ev.PausePointCancelled)
    doubt = node.doubt and (cancelled or not point.doubt)
    move(state, point.node, node, replace(node, status="stopped" if cancelled else "running", point="", doubt=doubt))
