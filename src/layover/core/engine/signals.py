"""Signals: which of them a point waits for, and when it has received all that it needs.

An execution takes a signal at most once, however many of its waits look back: a wait with a `lookback` takes the oldest
signal that no wait has taken yet, and of several such waits only one takes a signal. It takes signals only as they are
read from the mailbox, in their order; one that arrives has the mailbox read again. A wait without `lookback` takes what
comes while it is open, whichever other wait takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.node_types import WaitSignal
from layover.core.engine import events as ev
from layover.core.engine.failures import error_of
from layover.core.engine.sizes import bounded
from layover.core.expressions import ExpressionError

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import Point


def awaited_signals(point: Point) -> tuple[tuple[str, str], ...]:
    """Return the names and keys of the signals that a point waits for."""
    details = point.details
    if point.kind != "signal":
        return ()
    prefixes = [""] if "signal" in details else [f[: -len("signal")] for f in details if f.endswith(".signal")]
    pairs = ((str(details[f"{prefix}signal"]), str(details.get(f"{prefix}key", ""))) for prefix in prefixes)
    return tuple(dict.fromkeys(pairs))


def deliver(context: DecisionContext, command: cmd.Deliver) -> None:
    """Deliver a signal to the point that it is meant for, or to every point that waits for it."""
    points = context.state.points.rows
    wanted = [command.point] if command.point else [id_ for id_, one in points.items() if _awaits(one, command)]
    for point in sorted(wanted):
        _take(context, point, command)


def _awaits(point: Point, command: cmd.Deliver) -> bool:
    """Return whether a point waits for a signal; every point is asked, so the cheap checks come first."""
    if point.kind != "signal":
        return False
    details = point.details
    if "signal" in details:
        return details.get("key", "") == command.key and details["signal"] == command.name
    return (command.name, command.key) in awaited_signals(point)


def _take(context: DecisionContext, point_id: str, command: cmd.Deliver) -> None:
    """Take a signal that a point waits for; a repeated one, or one that fails the filter, changes nothing."""
    point = context.state.points.get(point_id)
    if point is None or point.status != "open" or point.kind != "signal":
        return
    node = context.state.planned(point.node).node
    if not isinstance(node, WaitSignal) or any(seen.get("id") == command.id for seen in point.received.values()):
        return
    if node.lookback and command.id in context.state.taken:
        return
    signal: dict[str, object] = {
        "id": command.id,
        "name": command.name,
        "key": command.key,
        "data": command.data,
        "at": context.now if command.at is None else command.at,
    }
    alias = _alias(context, point, node, signal)
    if alias is None:
        return
    if node.lookback and not command.point:  # older ones may be on their way from the mailbox
        if command.id in point.signalled:
            return
        since = min(point.opened_at - node.lookback, context.now if command.at is None else command.at)
        context.emit(ev.PausePointSignalled(point=point.id, signal=command.id, since=since))
        return
    context.emit(ev.PausePointReceived(point=point.id, alias=alias, signal=signal))
    received = context.state.points[point.id].received
    if _has_all_it_needs(node, received):
        try:  # one signal was bounded when it came in; several together may be too large
            output = bounded(received, "The received data") if node.signals else signal
            context.emit(ev.PausePointAnswered(point=point.id, output=output))
        except ExpressionError as failure:
            context.emit(ev.PausePointAnswered(point=point.id, error=error_of(failure)))


def _alias(context: DecisionContext, point: Point, node: WaitSignal, signal: dict[str, object]) -> str | None:
    """Return the name under which a signal is received, or None if it is not one of the awaited ones."""
    wanted = [(one.alias, f"signals.{index}.") for index, one in enumerate(node.signals)] or [("", "")]
    for alias, prefix in wanted:
        if alias in point.received:
            continue
        name, key = point.details.get(f"{prefix}signal"), point.details.get(f"{prefix}key")
        if name == signal["name"] and key == signal["key"] and _passes(context, point, f"{prefix}filter", signal):
            return alias
    return None


def _passes(context: DecisionContext, point: Point, field: str, signal: dict[str, object]) -> bool:
    planned = context.state.planned(point.node)
    if field not in planned.expressions:
        return True
    try:
        return context.holds(context.scope_of(point.node), point.node, planned, field, {"signal": signal})
    except ExpressionError:
        return False  # a filter that fails to evaluate does not let the signal pass


def _has_all_it_needs(node: WaitSignal, received: dict[str, dict[str, object]]) -> bool:
    if not node.signals:
        return True
    if any(one.required and one.alias not in received for one in node.signals):
        return False
    need = {"all": len(node.signals), "any": 1}.get(str(node.need), node.need)
    return len(received) >= int(need)
